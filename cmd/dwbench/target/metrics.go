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

// Counters are the samples of dwserver's own counters, by name and labels as /metrics writes them.
type Counters map[string]float64

// Sum adds the samples of a counter up and reports whether there is any.
func (c Counters) Sum(name string) (sum float64, ok bool) {
	for sample, n := range c {
		if sample == name || strings.HasPrefix(sample, name+"{") {
			sum, ok = sum+n, true
		}
	}
	return sum, ok
}

// Since are the counts after an earlier reading; what did not grow is left out.
func (c Counters) Since(earlier Counters) Counters {
	grown := Counters{}
	for sample, n := range c {
		if n > earlier[sample] {
			grown[sample] = n - earlier[sample]
		}
	}
	return grown
}

// Counters reads them; nil for the null server.
func (s *Server) Counters(ctx context.Context) (Counters, error) {
	if s.metrics == "" {
		return nil, nil
	}
	counters := Counters{}
	err := s.samples(ctx, func(name, sample string, value float64) {
		if strings.HasSuffix(name, "_total") {
			counters[sample] = value
		}
	})
	return counters, err
}

// Gauge reads one value. Errors: the server does not have it.
func (s *Server) Gauge(ctx context.Context, wanted string) (float64, error) {
	value, found := 0.0, false
	err := s.samples(ctx, func(name, _ string, v float64) {
		if name == wanted {
			value, found = v, true
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("the server has no metric %s", wanted)
	}
	return value, err
}

// samples calls fn with every sample of dwserver's own metrics: its name, its name with labels, its value.
func (s *Server) samples(ctx context.Context, fn func(name, sample string, value float64)) error {
	body, err := s.get(ctx, "/metrics")
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || !strings.HasPrefix(line, "dwserver_") {
			continue
		}
		sample := line[:at]
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return fmt.Errorf("metric %s: %w", sample, err)
		}
		name, _, _ := strings.Cut(sample, "{")
		fn(name, sample, value)
	}
	return lines.Err()
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
