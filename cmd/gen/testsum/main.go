// Command testsum reads the events of `go test -json` on standard input, prints what a person wants to
// see of them (packages as they finish, the output of what failed) and ends with a line that counts:
//
//	N passed, N failed, N skipped
//
// It exits 1 when anything failed, a package that did not build or did not finish included, and when no
// test ran at all.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// event is the part of a test2json event that is read here.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
}

func main() {
	ok, err := summarise(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// summary counts tests, and keeps the output of what is still running until it is known whether it failed.
type summary struct {
	out                     io.Writer
	passed, failed, skipped int
	pending                 map[string][]string // by package and test
	failedIn                map[string]bool     // packages with a failed test
}

func summarise(in io.Reader, out io.Writer) (ok bool, err error) {
	s := &summary{out: out, pending: map[string][]string{}, failedIn: map[string]bool{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
	}
	_, err = fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	return s.failed == 0 && s.passed > 0, err
}

// line reads one event; what is not an event, such as a message of the go command, is shown as it is.
func (s *summary) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		fmt.Fprint(s.out, string(line))
		return
	}
	switch e.Action {
	case "output":
		key := e.Package + " " + e.Test
		s.pending[key] = append(s.pending[key], e.Output)
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "pass", "fail", "skip":
		s.end(e)
	}
}

func (s *summary) end(e event) {
	key := e.Package + " " + e.Test
	output := s.pending[key]
	delete(s.pending, key)
	if e.Test == "" {
		s.endPackage(e, output)
		return
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "skip":
		s.skipped++
	case "fail":
		s.failed++
		s.failedIn[e.Package] = true
		s.print(output)
	}
}

// endPackage counts a package that failed without a failed test (it did not build, panicked or ran out of
// time) as one failure, and prints what its unfinished tests had to say.
func (s *summary) endPackage(e event, output []string) {
	if e.Action != "fail" {
		if n := len(output); n > 0 && e.Action == "pass" {
			fmt.Fprint(s.out, output[n-1]) // the package's closing line
		}
		return
	}
	if !s.failedIn[e.Package] {
		s.failed++
	}
	for key, rest := range s.pending {
		if len(key) > len(e.Package) && key[:len(e.Package)+1] == e.Package+" " {
			s.print(rest)
			delete(s.pending, key)
		}
	}
	s.print(output)
}

func (s *summary) print(output []string) {
	for _, line := range output {
		fmt.Fprint(s.out, line)
	}
}
