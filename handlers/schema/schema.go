// Package schema checks and normalises requests against the schemas of our
// OpenAPI documents, compiled once at start.
//
// It covers what our documents use and refuses to compile anything else, so
// that no keyword is silently ignored. Beyond OpenAPI it knows the extensions
// x-dw-trim, x-dw-id, x-dw-payload, x-dw-refused, x-dw-apart and x-dw-max-bytes. Three liberties are part
// of the contract (worker-plane.md 1, commands-and-history.md 1): an empty array
// stands for an empty object, a string of digits for an integer, and null for
// an absent member.
package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"dwserver/handlers/jsondoc"

	"github.com/getkin/kin-openapi/openapi3"
)

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	kind     kind
	nullable bool
	refused  bool     // present and not null is an error
	enum     []string // of strings or integers, as text
	members  *members
	items    *Schema
	anyOf    []*Schema
	text     textRules
	number   numberRules
	list     listRules
}

type kind uint8

const (
	anything kind = iota
	object
	array
	text
	integer
	number
	boolean
	payload // a base64 string, or an envelope object
)

type members struct {
	known    map[string]*Schema
	required []string
	apart    []string // known members that are judged on their own
	closed   bool     // unknown members are refused
	others   *Schema  // schema of unknown members, nil: unchecked
	min, max int      // max -1: unbounded
}

type textRules struct {
	minRunes, maxRunes, maxBytes int // max -1: unbounded
	pattern                      *regexp.Regexp
	trim, id, instant            bool
}

type numberRules struct {
	min, max           *float64
	minWhole, maxWhole *int64
}

type listRules struct {
	min, max int // max -1: unbounded
	unique   bool
}

// Compiler compiles the schemas of one document; equal references share one
// compiled schema.
type Compiler struct {
	seen map[*openapi3.Schema]*Schema
}

// NewCompiler makes a compiler.
func NewCompiler() *Compiler { return &Compiler{seen: map[*openapi3.Schema]*Schema{}} }

// Compile compiles a schema whose references are resolved. It fails on keywords
// the checker does not know.
func (c *Compiler) Compile(ref *openapi3.SchemaRef) (*Schema, error) {
	if ref == nil || ref.Value == nil {
		return &Schema{nullable: true}, nil
	}
	if done, ok := c.seen[ref.Value]; ok {
		return done, nil
	}
	out := &Schema{}
	c.seen[ref.Value] = out
	if err := c.fill(out, ref.Value); err != nil {
		return nil, fmt.Errorf("schema %s: %w", ref.Ref, err)
	}
	return out, nil
}

func (c *Compiler) fill(out *Schema, in *openapi3.Schema) error {
	if in.Not != nil || in.MultipleOf != nil || in.AllOf != nil || in.ExclusiveMin.IsSet() || in.ExclusiveMax.IsSet() {
		return fmt.Errorf("not, multipleOf, allOf and exclusive bounds are not supported")
	}
	out.nullable, out.refused = in.Nullable, flag(in, "x-dw-refused")
	if err := out.setKind(in); err != nil {
		return err
	}
	for _, value := range in.Enum {
		out.enum = append(out.enum, fmt.Sprint(value))
	}
	out.number = numbers(in)
	out.list = listRules{min: int(in.MinItems), max: limit(in.MaxItems), unique: in.UniqueItems}
	var err error
	if out.text, err = texts(in); err != nil {
		return err
	}
	if in.Items != nil {
		if out.items, err = c.Compile(in.Items); err != nil {
			return err
		}
	}
	for _, branch := range slices.Concat(in.AnyOf, in.OneOf) {
		compiled, err := c.Compile(branch)
		if err != nil {
			return err
		}
		out.anyOf = append(out.anyOf, compiled)
	}
	return c.members(out, in)
}

func (out *Schema) setKind(in *openapi3.Schema) error {
	if flag(in, "x-dw-payload") {
		out.kind = payload
		return nil
	}
	kinds := map[string]kind{"object": object, "array": array, "string": text, "integer": integer,
		"number": number, "boolean": boolean}
	switch names := in.Type.Slice(); len(names) {
	case 0:
		out.kind = anything
		out.nullable = out.nullable || (in.AnyOf == nil && in.OneOf == nil)
	case 1:
		found, ok := kinds[names[0]]
		if !ok {
			return fmt.Errorf("type %s is not supported", names[0])
		}
		out.kind = found
	default:
		return fmt.Errorf("several types are not supported")
	}
	return nil
}

func (c *Compiler) members(out *Schema, in *openapi3.Schema) error {
	if out.kind != object {
		return nil
	}
	extra := in.AdditionalProperties
	m := &members{known: make(map[string]*Schema, len(in.Properties)), required: in.Required,
		min: int(in.MinProps), max: limit(in.MaxProps), closed: extra.Has != nil && !*extra.Has}
	out.members = m
	for name, ref := range in.Properties {
		compiled, err := c.Compile(ref)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.known[name] = compiled
		if flag(ref.Value, "x-dw-apart") {
			m.apart = append(m.apart, name)
		}
		jsondoc.Know(name)
	}
	if extra.Schema == nil {
		return nil
	}
	var err error
	m.others, err = c.Compile(extra.Schema)
	return err
}

func texts(in *openapi3.Schema) (textRules, error) {
	rules := textRules{minRunes: int(in.MinLength), maxRunes: limit(in.MaxLength), maxBytes: -1,
		trim: flag(in, "x-dw-trim"), id: flag(in, "x-dw-id"), instant: in.Format == "date-time"}
	if most, ok := in.Extensions["x-dw-max-bytes"]; ok {
		n, err := strconv.Atoi(fmt.Sprint(most))
		if err != nil {
			return rules, fmt.Errorf("x-dw-max-bytes: %w", err)
		}
		rules.maxBytes = n
	}
	if in.Pattern == "" {
		return rules, nil
	}
	var err error
	rules.pattern, err = regexp.Compile(in.Pattern)
	return rules, err
}

func numbers(in *openapi3.Schema) numberRules {
	rules := numberRules{min: in.Min, max: in.Max}
	if in.Min != nil {
		whole := int64(*in.Min)
		rules.minWhole = &whole
	}
	if in.Max != nil {
		whole := int64(*in.Max)
		rules.maxWhole = &whole
	}
	if in.Format == "int32" {
		low, high := int64(-1<<31), int64(1<<31-1)
		rules.minWhole, rules.maxWhole = &low, &high
	}
	return rules
}

func limit(most *uint64) int {
	if most == nil {
		return -1
	}
	return int(*most)
}

func flag(in *openapi3.Schema, name string) bool {
	on, _ := in.Extensions[name].(bool)
	return on
}

// Check normalises the document in place and reports what breaks the schema.
// An empty array or null at the root counts as {}. The result is nil when the
// document is valid.
func (s *Schema) Check(doc *jsondoc.Doc) *Problems {
	found := &Problems{}
	root := doc.Root()
	found.addIssues(doc, s.apart(root))
	switch {
	case root.Kind() == jsondoc.Object:
	case root.Kind() == jsondoc.Null, root.Kind() == jsondoc.Array && root.Empty():
		root.ToObject()
	default:
		found.add(nil, "body", "The request body must be a JSON object.")
		return found
	}
	s.check(root, nil, false, found)
	return found.OrNil()
}

// apart are the members that are judged on their own and by another schema: a fault in them is not the request's.
func (s *Schema) apart(root jsondoc.Value) []jsondoc.Value {
	if s.members == nil || root.Kind() != jsondoc.Object {
		return nil
	}
	var values []jsondoc.Value
	for _, name := range s.members.apart {
		values = append(values, root.Member(name))
	}
	return values
}
