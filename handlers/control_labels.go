package handlers

import (
	"bytes"
	"encoding/json"
	"strconv"

	"dwserver/handlers/jsondoc"
	"dwserver/handlers/schema"
	"dwserver/runtime/rules"
)

// Bounds on search attributes (control-plane.md 1.8).
const (
	maxSearchAttributes = 100
	maxAttributeName    = 128  // bytes
	maxAttributeText    = 2048 // bytes of one text value
)

// readMemo compacts a start's memo. Refusal: structural_limit_exceeded. An empty memo is none.
func readMemo(memo []byte, limit int64) ([]byte, error) {
	text, err := compactObject(memo)
	if err != nil {
		return nil, err
	}
	if size := int64(len(text)); limit > 0 && size > limit {
		return nil, rules.LimitExceeded("memo_size", size, limit)
	}
	return text, nil
}

// readAttributes checks a start's search attributes and compacts them: names, and values that are a
// scalar or a list of texts. Refusals: validation_failed, structural_limit_exceeded.
func readAttributes(attributes []byte, limit int64) ([]byte, error) {
	text, err := compactObject(attributes)
	if err != nil || text == nil {
		return nil, err
	}
	doc, err := jsondoc.Parse(text, jsondoc.MaxDepth)
	if err != nil {
		return nil, err
	}
	defer doc.Release()
	found := &schema.Problems{}
	count := 0
	doc.Root().Each(func(_ int, name string, value jsondoc.Value) bool {
		count++
		checkAttribute(name, value, found)
		return true
	})
	if count > maxSearchAttributes {
		found.Add("search_attributes", "There must not be more than "+strconv.Itoa(maxSearchAttributes)+" search attributes.")
	}
	if found.OrNil() != nil {
		return nil, invalid(controlPlane, found)
	}
	if size := int64(len(text)); limit > 0 && size > limit {
		return nil, rules.LimitExceeded("search_attribute_size", size, limit)
	}
	return text, nil
}

func checkAttribute(name string, value jsondoc.Value, found *schema.Problems) {
	path := "search_attributes." + name
	switch {
	case len(name) > maxAttributeName:
		found.Add("search_attributes", "A search attribute's name must not be longer than "+strconv.Itoa(maxAttributeName)+" bytes.")
		return
	case !isAttributeName(name):
		found.Add(path, "A search attribute's name must start with a letter and hold only letters, digits and underscores.")
		return
	}
	switch value.Kind() {
	case jsondoc.Object:
		found.Add(path, "A search attribute must be a text, a number, a boolean or a list of texts.")
	case jsondoc.Array:
		value.Each(func(_ int, _ string, element jsondoc.Value) bool {
			if element.Kind() != jsondoc.String {
				found.Add(path, "A list of a search attribute must hold texts only.")
				return false
			}
			return checkAttributeText(path, element, found)
		})
	case jsondoc.String:
		checkAttributeText(path, value, found)
	}
}

func checkAttributeText(path string, value jsondoc.Value, found *schema.Problems) bool {
	if len(value.Text()) <= maxAttributeText {
		return true
	}
	found.Add(path, "A search attribute's text must not be longer than "+strconv.Itoa(maxAttributeText)+" bytes.")
	return false
}

// isAttributeName matches ^[a-zA-Z][a-zA-Z0-9_]*$.
func isAttributeName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := (c|0x20) >= 'a' && (c|0x20) <= 'z'
		if !letter && (i == 0 || (c != '_' && (c < '0' || c > '9'))) {
			return false
		}
	}
	return name != ""
}

// compactObject drops the blanks of an object's text and nothing else: numbers, order and doubled
// names stay. An absent, null or empty object is nil.
func compactObject(text []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, text); len(text) > 0 && err != nil {
		return nil, err
	}
	switch out.String() {
	case "", "null", "{}", "[]":
		return nil, nil
	}
	return out.Bytes(), nil
}
