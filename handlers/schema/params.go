package schema

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
)

// Params are the compiled query and path parameters of an operation.
type Params struct {
	query map[string]*Schema
	path  map[string]*Schema
	need  []string // required query parameters
}

// CompileParams compiles the parameters of an operation; those of its path item
// may be passed along.
func (c *Compiler) CompileParams(lists ...openapi3.Parameters) (*Params, error) {
	out := &Params{query: map[string]*Schema{}, path: map[string]*Schema{}}
	for _, list := range lists {
		for _, ref := range list {
			compiled, err := c.Compile(ref.Value.Schema)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", ref.Value.Name, err)
			}
			switch ref.Value.In {
			case openapi3.ParameterInQuery:
				out.query[ref.Value.Name] = compiled
				if ref.Value.Required {
					out.need = append(out.need, ref.Value.Name)
				}
			case openapi3.ParameterInPath:
				out.path[ref.Value.Name] = compiled
			}
		}
	}
	return out, nil
}

// CheckPath checks a decoded path parameter. Every one of them has to be text
// without control characters, whatever its schema says.
func (p *Params) CheckPath(name, value string, found *Problems) {
	if value == "" {
		found.Add(name, "The "+name+" is required.")
		return
	}
	if !Printable(value) {
		found.Add(name, "The "+name+" must be text without control characters.")
		return
	}
	// Length and format are left to the lookup: what cannot exist is not found.
	if s := p.path[name]; s != nil && s.text.id && !IsID(value) {
		found.Add(name, "The "+name+" must not start or end with blanks.")
	}
}

// CheckQuery checks the query parameters. Empty ones count as absent; they and
// the broken ones are removed from values, and booleans are spelled out, so that
// typed binding cannot fail afterwards.
func (p *Params) CheckQuery(values url.Values, found *Problems) {
	for name, schema := range p.query {
		given, ok := values[name]
		if !ok {
			continue
		}
		if len(given) == 1 && given[0] == "" {
			delete(values, name)
			continue
		}
		for i, value := range given {
			text, problem := schema.checkParam(value)
			if problem != "" {
				found.Add(name, "The "+name+" parameter "+problem)
				delete(values, name)
				break
			}
			given[i] = text
		}
	}
	for _, name := range p.need {
		if !values.Has(name) && found.Fields[name] == nil {
			found.Add(name, "The "+name+" parameter is required.")
		}
	}
}

// checkParam returns a parameter's canonical text, or what is wrong with it.
func (s *Schema) checkParam(value string) (text, problem string) {
	switch s.kind {
	case array:
		return s.items.checkParam(value)
	case integer:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || !wholeNumber(value) {
			return "", "must be an integer."
		}
		return strconv.FormatInt(n, 10), s.integerProblem(n)
	case boolean:
		switch value {
		case "1", "true":
			return "true", ""
		case "0", "false":
			return "false", ""
		}
		return "", "must be true or false."
	}
	if !Printable(value) {
		return "", "must be text without control characters."
	}
	return value, s.textProblem([]byte(value))
}

// NeedsQuery reports whether a request without any query parameter is incomplete.
func (p *Params) NeedsQuery() bool { return len(p.need) > 0 }
