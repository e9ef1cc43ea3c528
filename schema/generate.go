package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ax-scheduler/ax/dsl"
)

// object is a JSON object whose keys keep their order, for schemas are read by
// people too.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", m.key, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode is json.Marshal without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// definitions names the mappings under $defs; the workflow is the root.
var definitions = map[string]string{
	"the workflow": "", "a task": "task", `"defaults"`: "defaults", `"retry"`: "retry", `"pool"`: "pool", `"foreach"`: "foreach",
	`"sql"`: "sql", `"http"`: "http", `"workflow"`: "child", `"wait_for"`: "wait_for", `an entry of "cron"`: "cron_entry",
	"a parameter": "parameter", "a secret": "secret", `"retention"`: "retention", `"notify"`: "target",
}

// Generate makes the schema from what dsl says of the language: JSON, indented,
// with a line end at its end.
func Generate() []byte {
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "ax workflow"},
		{"description", "A workflow: tasks, what they wait for, and when they run."},
		{"type", "object"},
	}
	defs := object{}
	for _, m := range dsl.Mappings() {
		if name := definitions[m.Name]; name == "" {
			root = append(root, mapping(m)...)
		} else {
			defs = append(defs, member{name, mapping(m)})
		}
	}
	for kind := dsl.ScalarText; kind <= dsl.ScalarParamValue; kind++ {
		if name := scalars[kind].name; name != "" {
			defs = append(defs, member{name, scalar(dsl.Shape{Scalar: kind})})
		}
	}
	for _, least := range slices.Sorted(maps.Keys(names)) {
		defs = append(defs, member{names[least], scalar(dsl.Shape{Scalar: dsl.ScalarDuration, Least: least})})
	}
	defs = append(defs, member{"any", anything()})
	compact, err := encode(append(root, member{"$defs", defs}))
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err)) // strings, numbers and lists of them always are JSON
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		panic(fmt.Sprintf("schema: %v", err))
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

// mapping describes a mapping with a fixed set of keys. It does not say that it
// is an object: where it is used, something else may be allowed beside it.
func mapping(m dsl.Mapping) object {
	properties := object{}
	for _, key := range m.Keys {
		properties = append(properties, member{key, append(shape(m.Shapes[key]), member{"description", About(m.Name, key)})})
	}
	o := object{{"properties", properties}}
	if definitions[m.Name] == "" {
		o = append(o, member{"patternProperties", object{{"^x-", object{{"description", aboutX}}}}})
	}
	o = append(o, member{"additionalProperties", false})
	if len(m.Required) > 0 {
		o = append(o, member{"required", m.Required})
	}
	if len(m.OneOf) > 0 {
		o = append(o, member{"oneOf", requireEach(m.OneOf)})
	}
	if len(m.SomeOf) > 0 {
		o = append(o, member{"anyOf", requireEach(m.SomeOf)})
	}
	if len(m.Needs) > 0 {
		o = append(o, member{"dependentRequired", m.Needs})
	}
	if m.Name == "a parameter" {
		o = append(o, member{"allOf", parameterTypes()})
	}
	return o
}

func requireEach(keys []string) (all []object) {
	for _, key := range keys {
		all = append(all, object{{"required", []string{key}}})
	}
	return all
}

// shape describes a value. Keywords for strings, numbers, lists and maps do
// not touch each other, so that what may be several of them is one flat schema,
// which editors explain best. Only a list of words needs alternatives.
func shape(s dsl.Shape) object {
	list, mapped := s.Items != nil, s.Values != nil || s.Mapping != ""
	if s.Scalar == dsl.ScalarWord && (list || mapped) {
		rest := s
		rest.Scalar = dsl.NoScalar
		return object{{"anyOf", []object{scalar(s), shape(rest)}}}
	}
	if !list && !mapped && !s.Any {
		if name := nameOf(s); name != "" {
			return object{ref(name)}
		}
		return scalar(s)
	}
	types, o := []string{}, object{}
	if s.Scalar != dsl.NoScalar {
		types, o = scalars[s.Scalar].types, scalar(s)[1:]
	}
	types = types[:len(types):len(types)]
	if list || s.Any {
		types = append(types, "array")
	}
	if mapped || s.Any {
		types = append(types, "object")
	}
	return append(append(object{typed(types)}, o...), inside(s)...)
}

// inside describes what a list or a map holds.
func inside(s dsl.Shape) (o object) {
	if s.First != nil {
		o = append(o, member{"prefixItems", []object{shape(*s.First)}})
	}
	if s.Items != nil {
		o = append(o, member{"items", shape(*s.Items)})
		if s.Some || s.First != nil {
			o = append(o, member{"minItems", 1})
		}
	}
	if s.Values != nil {
		if names := propertyNames(s.Names); names != nil {
			o = append(o, member{"propertyNames", names})
		}
		o = append(o, member{"additionalProperties", shape(*s.Values)})
		if s.Some {
			o = append(o, member{"minProperties", 1})
		}
	}
	if s.Mapping != "" {
		o = append(o, ref(definitions[s.Mapping]))
	}
	if s.Any {
		o = append(o, member{"items", object{ref("any")}}, member{"additionalProperties", object{ref("any")}})
	}
	return o
}

// anything describes lists and maps of any depth.
func anything() object {
	s := dsl.Shape{Scalar: dsl.ScalarText, Any: true}
	o := shape(s)
	o[0] = typed(append(o[0].value.([]string), "null"))
	return o
}

func ref(name string) member { return member{"$ref", "#/$defs/" + name} }

func typed(types []string) member {
	if len(types) == 1 {
		return member{"type", types[0]}
	}
	return member{"type", types}
}

// parameterTypes holds a parameter's values against its type.
func parameterTypes() (all []object) {
	for _, t := range []struct {
		is    dsl.ParamType
		value object
	}{
		{dsl.ParamString, nil}, {dsl.ParamInt, wholeNumber()}, {dsl.ParamFloat, decimalNumber()}, {dsl.ParamBool, lowerBoolean()},
		{dsl.ParamDate, object{ref("date")}}, {dsl.ParamDuration, object{ref(names[0])}},
	} {
		then := object{}
		if t.value != nil {
			then = object{{"default", t.value}, {"choices", object{{"items", t.value}}}}
		}
		if t.is == dsl.ParamString || t.is == dsl.ParamBool {
			then = append(then, member{"min", false}, member{"max", false})
		} else {
			then = append(then, member{"min", t.value}, member{"max", t.value})
		}
		if t.is != dsl.ParamString {
			then = append(then, member{"pattern", false})
		}
		condition := object{{"required", []string{"type"}}, {"properties", object{{"type", object{{"const", t.is}}}}}}
		all = append(all, object{{"if", condition}, {"then", object{{"properties", then}}}})
	}
	return all
}
