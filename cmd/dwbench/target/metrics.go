package target

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// Counters are the samples of dwserver's own metrics, by name; samples that differ in labels are summed up.
// Nil for the null server.
func (s *Server) Counters(ctx context.Context) (map[string]float64, error) {
	if s.metrics == "" {
		return nil, nil
	}
	body, err := s.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	sums := map[string]float64{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		name, _, _ = strings.Cut(name, "{")
		if !ok || !strings.HasPrefix(name, "dwserver_") {
			continue
		}
		n, err := strconv.ParseFloat(value[strings.LastIndexByte(value, ' ')+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metric %s: %w", name, err)
		}
		sums[name] += n
	}
	return sums, lines.Err()
}

// Profile writes a CPU profile of the coming seconds to a file.
func (s *Server) Profile(ctx context.Context, seconds int, file string) error {
	body, err := s.get(ctx, "/debug/pprof/profile?seconds="+strconv.Itoa(seconds))
	if err != nil {
		return err
	}
	defer body.Close()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, body); err != nil {
		_ = out.Close() // the copy's error says more
		return err
	}
	return out.Close()
}

func (s *Server) get(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.metrics+path, nil)
	if err != nil {
		return nil, err
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if r.StatusCode != http.StatusOK {
		_ = r.Body.Close() // only read
		return nil, fmt.Errorf("%s: status %s", path, r.Status)
	}
	return r.Body, nil
}
