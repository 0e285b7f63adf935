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
	if strings.HasPrefix(path, "//") { // four slashes, as other URL dialects write an absolute path
		path = "/" + strings.TrimLeft(path, "/")
	}
	if strings.HasPrefix(path, "/./") || strings.HasPrefix(path, "/../") {
		path = path[1:] // never meant from the root
	}
	return path, nil
}

// Settings of the connections, as pragmas. FULL makes a commit survive power loss, not only a crash.
var (
	writerSettings = []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"temp_store(MEMORY)", "cache_size(-32768)", "wal_autocheckpoint(4000)"}
	readerSettings = []string{"busy_timeout(10000)", "query_only(1)", "cache_size(-8192)"}
)

// writerDSN and readerDSN are for database/sql.
func writerDSN(path string) string { return dsn(path, "", writerSettings) }
func readerDSN(path string) string { return dsn(path, "mode=ro", readerSettings) }

func dsn(path, options string, settings []string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path) +
		"?" + options + "&_pragma=" + strings.Join(settings, "&_pragma=")
}
