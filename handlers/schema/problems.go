package schema

import (
	"strconv"

	"dwserver/handlers/jsondoc"
)

// maxProblems bounds an answer: a batch of a thousand bad commands does not need
// a thousand messages.
const maxProblems = 50

// Problems are the rules a request breaks.
type Problems struct {
	First  string              // the first message found, for the answer's message
	Fields map[string][]string // field path (commands.0.result) to messages
	count  int
	codec  int // how many of them are only about an unknown payload codec
}

// Only reports whether every problem is a payload codec the server does not
// have, which has a reason of its own (unsupported_payload_codec).
func (p *Problems) OnlyCodec() bool { return p.count > 0 && p.codec == p.count }

// Add records a problem at a dotted path.
func (p *Problems) Add(path, message string) {
	if p.count >= maxProblems {
		return
	}
	if p.count == 0 {
		p.First = message
		p.Fields = map[string][]string{}
	}
	p.count++
	p.Fields[path] = append(p.Fields[path], message)
}

func (p *Problems) add(at *step, name, message string) {
	p.Add(at.join(name), message)
}

// field records a problem of the value at the end of the path; rest continues
// the sentence "The x field …".
func (p *Problems) field(at *step, rest string) {
	path := at.path()
	p.Add(path, "The "+path+" field "+rest)
}

// OrNil is nil when nothing was found.
func (p *Problems) OrNil() *Problems {
	if p.count == 0 {
		return nil
	}
	return p
}

func (p *Problems) addIssues(doc *jsondoc.Doc, apart []jsondoc.Value) {
	doc.Issues(func(path string, kind jsondoc.IssueKind) {
		if path == "" {
			path = "body"
		}
		rest := "must not contain NUL characters."
		if kind == jsondoc.Range {
			rest = "must fit in 64 bits."
		}
		p.Add(path, "The "+path+" field "+rest)
	}, apart...)
}

// step is one step of a path, linked to the steps before it, so that a path
// costs nothing until it is needed for a message.
type step struct {
	parent *step
	name   string
	index  int // used when name is ""
}

func (s *step) path() string {
	if s == nil {
		return ""
	}
	name := s.name
	if name == "" {
		name = strconv.Itoa(s.index)
	}
	return jsondoc.Join(s.parent.path(), name)
}

func (s *step) join(name string) string {
	if name == "" {
		return s.path()
	}
	return jsondoc.Join(s.path(), name)
}
