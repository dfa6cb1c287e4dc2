// Package jsontest holds what commands print against the schema of package jsonout.
package jsontest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"lorefs/internal/jsonout"
)

const (
	defs    = "#/$defs/"
	version = "schema_version"
)

// timePattern is the form of texts whose format is date-time, RFC 3339. The library leaves formats
// unchecked, but not patterns.
const timePattern = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`

// schema is the schema of an object with members that have the names and the forms of the
// definitions, since the library checks by a schema as a whole.
var schema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var doc map[string]any
	if err := json.Unmarshal(jsonout.Schema(), &doc); err != nil {
		return nil, err
	}
	checkTimes(doc)
	members := map[string]any{}
	for name := range doc["$defs"].(map[string]any) {
		members[name] = map[string]any{"$ref": defs + name}
	}
	doc["properties"], doc["additionalProperties"] = members, false
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// checkTimes adds the pattern of times to each part of a schema that has their format.
func checkTimes(part any) {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			checkTimes(p)
		}
	case map[string]any:
		if part["format"] == "date-time" {
			part["pattern"] = timePattern
		}
		for _, p := range part {
			checkTimes(p)
		}
	}
}

// Output returns an error unless each object of what a command printed is as a definition of the
// schema says, and the first of them alone has a schema_version.
func Output(definition string, printed []byte) error {
	s, err := schema()
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(printed))
	for n := 1; ; n++ {
		var text json.RawMessage
		if err := dec.Decode(&text); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("object %d: %w", n, err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("object %d: %w", n, err)
		}
		if err := s.Validate(map[string]any{definition: v}); err != nil {
			return fmt.Errorf("object %d: %w: %s", n, err, text)
		}
		if _, has := v[version]; has != (n == 1) {
			return fmt.Errorf("object %d: that it has a %s is %v: %s", n, version, has, text)
		}
	}
}

// document is the schema as far as Struct reads it.
type document struct {
	Defs map[string]definition `json:"$defs"`
}

type definition struct {
	Ref        string                `json:"$ref"`
	Type       any                   `json:"type"` // a name, or a list of them
	Properties map[string]definition `json:"properties"`
	Required   []string              `json:"required"`
	Items      *definition           `json:"items"`
	OneOf      []definition          `json:"oneOf"`
	AnyOf      []definition          `json:"anyOf"`
	Const      any                   `json:"const"`

	Description          string `json:"description"`
	AdditionalProperties *bool  `json:"additionalProperties"`
}

// Definitions returns the names of all definitions, and an error for what is not described.
func Definitions() (names []string, err error) {
	var doc document
	if err := json.Unmarshal(jsonout.Schema(), &doc); err != nil {
		return nil, err
	}
	var errs []error
	for name, d := range doc.Defs {
		names = append(names, name)
		if d.Description == "" {
			errs = append(errs, fmt.Errorf("%s is not described", name))
		}
		if d.Properties != nil && (d.AdditionalProperties == nil || *d.AdditionalProperties) {
			errs = append(errs, fmt.Errorf("%s may have other members", name))
		}
		for member, m := range d.Properties {
			if m.Description == "" {
				errs = append(errs, fmt.Errorf("%s.%s is not described", name, member))
			}
			if strings.ToLower(member) != member || strings.Contains(member, " ") {
				errs = append(errs, fmt.Errorf("%s.%s is not snake_case", name, member))
			}
		}
	}
	slices.Sort(names)
	return names, errors.Join(errs...)
}

// Struct returns an error unless the members of a struct, and of those in it, are those of a
// definition.
func Struct(name string, v any) error {
	var doc document
	if err := json.Unmarshal(jsonout.Schema(), &doc); err != nil {
		return err
	}
	return doc.compare(name, &definition{Ref: defs + name}, reflect.TypeOf(v))
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// compare compares a definition with a type. at names it in errors.
func (doc *document) compare(at string, d *definition, t reflect.Type) error {
	null := false
	for t.Kind() == reflect.Pointer {
		t, null = t.Elem(), true
	}
	if name, ok := strings.CutPrefix(d.Ref, defs); ok {
		known, ok := doc.Defs[name]
		if !ok {
			return fmt.Errorf("%s: there is no definition %s", at, name)
		}
		return doc.compare(at, &known, t)
	}
	if len(d.OneOf) == 2 && d.OneOf[1].Type == "null" {
		if !null {
			return fmt.Errorf("%s can't be null", at)
		}
		return doc.compare(at, &d.OneOf[0], t)
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	want := typeOf(t)
	names, several := d.Type.([]any)
	switch {
	case d.Type == want:
	case several && null && slices.Contains(names, any(want)) && slices.Contains(names, any("null")):
	default:
		return fmt.Errorf("%s is %v in the schema, and %s in %v", at, d.Type, want, t)
	}
	switch want {
	case "array":
		return doc.compare(at+"[]", d.Items, t.Elem())
	case "object":
		return doc.compareMembers(at, d, t)
	}
	return nil
}

// typeOf returns the name that JSON Schema has for a type.
func typeOf(t reflect.Type) string {
	if t.Implements(textMarshaler) {
		return "string"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct:
		return "object"
	}
	return "integer"
}

func (doc *document) compareMembers(at string, d *definition, t reflect.Type) error {
	var errs []error
	required := []string{}
	members := map[string]reflect.Type{}
	collect(t, func(name string, always bool, of reflect.Type) {
		members[name] = of
		if always {
			required = append(required, name)
		}
	})
	for name, of := range members {
		p, ok := d.Properties[name]
		if !ok {
			errs = append(errs, fmt.Errorf("%s.%s is not in the schema", at, name))
			continue
		}
		errs = append(errs, doc.compare(at+"."+name, &p, of))
	}
	for name := range d.Properties {
		if members[name] == nil && name != version {
			errs = append(errs, fmt.Errorf("%s.%s is in the schema only", at, name))
		}
	}
	needed := slices.DeleteFunc(slices.Clone(d.Required), func(name string) bool { return name == version })
	slices.Sort(needed)
	if slices.Sort(required); !slices.Equal(needed, required) {
		errs = append(errs, fmt.Errorf("%s requires %v in the schema, and always has %v", at, needed, required))
	}
	return errors.Join(errs...)
}

// collect calls found for the members of a struct. always says that a member is never left out.
func collect(t reflect.Type, found func(name string, always bool, of reflect.Type)) {
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case !tagged && f.Anonymous:
			collect(f.Type, found)
		case name == "-", !f.IsExported():
		case name == "":
			found(f.Name, true, f.Type) // which is not snake_case
		default:
			found(name, options == "", f.Type)
		}
	}
}
