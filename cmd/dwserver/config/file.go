package config

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// readFile reads a settings file; no name means no file. A file that was named must be there.
func readFile(name string) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("settings file: %w", err)
	}
	defer f.Close()
	texts, err := parseFile(f)
	if err != nil {
		return nil, fmt.Errorf("settings file %s: %w", name, err)
	}
	return texts, nil
}

// parseFile reads NAME=VALUE lines with the names of the environment. Blank lines and lines that begin
// with # are skipped; everything after the first = is the value, with one pair of quotes around it
// removed. The same file serves docker's --env-file and systemd's EnvironmentFile. A name that is no
// setting is refused: it is a typing mistake, as the file is for this program alone.
func parseFile(r io.Reader) (map[string]string, error) {
	known := map[string]bool{}
	for _, s := range Settings() {
		known[s.Env] = true
		known[s.Alias] = s.Alias != ""
	}
	texts := map[string]string{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		switch _, twice := texts[name]; {
		case !found:
			return nil, fmt.Errorf("line %d: not NAME=VALUE", n)
		case !known[name]:
			return nil, fmt.Errorf("line %d: %s is not a setting", n, name)
		case twice:
			return nil, fmt.Errorf("line %d: %s is set twice", n, name)
		}
		texts[name] = unquote(strings.TrimSpace(value))
	}
	return texts, lines.Err()
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
