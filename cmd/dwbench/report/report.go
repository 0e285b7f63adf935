package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Compare adds to every result its ratio to the null server's in the same repetition.
func Compare(results []Result) {
	null := map[string]float64{}
	key := func(r *Result) string { return fmt.Sprint(r.Workload, r.Fleet, r.Rep) }
	for i := range results {
		if r := &results[i]; r.Engine == "null" {
			null[key(r)] = r.Values[LastClose]
		}
	}
	for i := range results {
		r := &results[i]
		if n := null[key(r)]; n > 0 && r.Values[LastClose] > 0 {
			r.Values[OfNull] = r.Values[LastClose] / n
		}
	}
}

// Line is a result on one line.
func Line(r *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-9s %-17s %d ", r.Workload, r.Engine, r.Fleet, r.Rep)
	if r.Skipped != "" {
		return b.String() + " skipped: " + r.Skipped
	}
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		fmt.Fprintf(&b, " %s=%s", name, Number(r.Values[name]))
	}
	return b.String()
}

// Number is a value with three digits.
func Number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// Document is what the JSON file holds.
type Document struct {
	Machine Machine  `json:"machine"`
	Quick   bool     `json:"quick"`
	Results []Result `json:"results"`
}

// WriteJSON writes a document to a file.
func WriteJSON(file string, d Document) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
