package sqlite

import (
	"fmt"
	"net/url"
	"strings"
)

// Path is the file a database URL names: sqlite:///absolute/path, sqlite:///./relative/path,
// sqlite://relative/path or sqlite:relative/path.
func Path(dbURL string) (string, error) {
	rest, ok := strings.CutPrefix(dbURL, "sqlite:")
	if !ok {
		return "", fmt.Errorf("sqlite: not a sqlite URL: %q", dbURL)
	}
	rest, query, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "?")
	path, err := url.PathUnescape(rest)
	if err != nil {
		return "", fmt.Errorf("sqlite: database URL: %w", err)
	}
	if query != "" {
		return "", fmt.Errorf("sqlite: database URL takes no options, got %q", query)
	}
	if path == "" || strings.HasSuffix(path, "/") || strings.Contains(path, ":memory:") {
		return "", fmt.Errorf("sqlite: database URL names no file: %q", dbURL)
	}
	if strings.HasPrefix(path, "/./") || strings.HasPrefix(path, "/../") {
		path = path[1:] // never meant from the root
	}
	return path, nil
}

// Settings of every connection. FULL makes a commit survive power loss, not only a crash.
const pragmas = "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
	"&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)"

func writerDSN(path string) string {
	return file(path) + "?" + pragmas + "&_pragma=cache_size(-32768)&_pragma=wal_autocheckpoint(4000)"
}

func readerDSN(path string) string {
	return file(path) + "?mode=ro&_pragma=busy_timeout(10000)&_pragma=query_only(1)&_pragma=cache_size(-8192)"
}

func file(path string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}
