package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// compiled is the schema, checked against that of schemas.
var compiled = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Text()))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("workflow.json", doc); err != nil {
		panic(err)
	}
	return c.MustCompile("workflow.json")
})

// reader says how scalars become JSON.
type reader bool

const (
	asWritten reader = false // as the language reads them: every scalar is a text
	asEditors reader = true  // by the core schema of YAML 1.2
)

// converted is a file as JSON, with what was lost on the way.
type converted struct {
	value   any
	guessed bool // somewhere an editor sees a number or a boolean
	spelled bool // a number or boolean is written in an unusual way
	budget  int
}

var errTooMuch = errors.New("aliases make too much of it")

// convert turns a document into JSON, with aliases and merges resolved.
func convert(root *yaml.Node, as reader) (*converted, error) {
	c := &converted{budget: 100_000}
	if root == nil {
		return c, nil
	}
	var err error
	c.value, err = c.node(root, as, 0)
	return c, err
}

func (c *converted) node(n *yaml.Node, as reader, depth int) (any, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if c.budget--; c.budget < 0 || depth > 100 {
		return nil, errTooMuch
	}
	switch n.Kind {
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			v, err := c.node(item, as, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		m := map[string]any{}
		return m, c.entries(m, n, as, depth)
	}
	return c.scalar(n, as), nil
}

// entries adds what a mapping has, and below it what it merges.
func (c *converted) entries(m map[string]any, n *yaml.Node, as reader, depth int) error {
	if c.budget--; c.budget < 0 || depth > 100 {
		return errTooMuch
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch _, there := m[key.Value]; {
		case key.Tag == "!!merge":
			merged = append(merged, value)
		case key.Kind == yaml.ScalarNode && !there:
			v, err := c.node(value, as, depth+1)
			if err != nil {
				return err
			}
			m[key.Value] = v
		}
	}
	for _, from := range merged {
		if from.Kind == yaml.AliasNode {
			from = from.Alias
		}
		maps := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			maps = from.Content
		}
		for _, from := range maps {
			if from.Kind == yaml.AliasNode {
				from = from.Alias
			}
			if from.Kind != yaml.MappingNode {
				continue
			}
			if err := c.entries(m, from, as, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	coreInteger = regexp.MustCompile(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	coreFloat   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	coreOther   = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
	usual       = regexp.MustCompile(`^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]|true|false)$`)
)

func (c *converted) scalar(n *yaml.Node, as reader) any {
	text, plain := n.Value, n.Style == 0
	if plain && n.Tag == "!!null" {
		return nil
	}
	if as == asWritten || !plain {
		return text
	}
	boolean := map[string]bool{"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false}
	v, isBool := boolean[text]
	number := coreInteger.MatchString(text) || coreFloat.MatchString(text)
	c.guessed = c.guessed || isBool || number || coreOther.MatchString(text)
	c.spelled = c.spelled || (isBool || number || coreOther.MatchString(text)) && !usual.MatchString(text)
	switch {
	case isBool:
		return v
	case coreOther.MatchString(text):
		return json.Number("1e300") // JSON has no better word for it
	case strings.HasPrefix(text, "0o"), strings.HasPrefix(text, "0x"):
		return json.Number("16") // which one is all the same
	case number:
		return json.Number(jsonNumber(text))
	}
	return text
}

// jsonNumber writes a number as JSON does.
func jsonNumber(text string) string {
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	text = strings.TrimLeft(text, "+-")
	exponent := ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exponent = text[:i], text[i:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction + exponent
}

// verdict is what parser and schema say of a file.
type verdict struct {
	diagnostics dsl.Diagnostics  // of the parser
	refused     map[reader]error // of the schema
	spelled     bool             // see converted
}

// judge asks both.
func judge(file string, text []byte) verdict {
	w, ds := dsl.Parse(file, text)
	v := verdict{diagnostics: ds, refused: map[reader]error{}}
	_, root, _ := dsl.Tree(file, text)
	for _, as := range []reader{asWritten, asEditors} {
		if w == nil {
			v.refused[as] = errors.New("no YAML")
			continue
		}
		c, err := convert(root, as)
		switch {
		case err != nil:
		case as == asEditors && !c.guessed: // the same as before
			err = v.refused[asWritten]
		default:
			err = compiled().Validate(c.value)
		}
		v.refused[as], v.spelled = err, c.spelled
	}
	return v
}

// dispute explains how parser and schema disagree where they should not; "" if
// all is well.
func (v verdict) dispute() string {
	for as, refused := range v.refused {
		switch {
		case len(v.diagnostics) == 0 && refused != nil:
			return "the parser accepts it, the schema does not: " + refused.Error()
		case len(v.diagnostics) == 0 || refused != nil:
		case as == asEditors && v.refused[asWritten] != nil && v.spelled:
			// The spelling is lost on the way to an editor.
		default:
			if bad := expressible(v.diagnostics); bad != "" {
				return "the schema accepts it, the parser does not: " + bad
			}
		}
	}
	return ""
}

// mistake is one that the parser knows by a rule and a message.
type mistake struct {
	rule    string
	message *regexp.Regexp
}

// unseen lists what the parser refuses and no schema of JSON can.
var unseen = sync.OnceValue(func() (all []mistake) {
	for _, u := range []struct{ rule, message, why string }{
		{"duplicate-key", "", "JSON has each key once"},
		{"several-documents", "", "a schema is about one document"},
		{"too-large", "", "a schema does not see aliases, nor the size of a file"},
		{"wrong-type", `^tag "`, "JSON has no tags"},
		{"wrong-type", "^expected a text as a key", "JSON has no other keys"},
		{"wrong-type", `^expected a map or a list of maps for "<<"`, "JSON has no merges"},
		{"bad-value", "merged into", "JSON has no merges"},
		{"bad-name", "^the file's name", "a schema does not know the name of the file"},
		{"bad-name", "would both be AX_PARAM_", "a schema compares no two keys"},
		{"bad-value", `in "success_codes" too`, "a schema compares no two lists"},
		{"bad-value", "^(the default|a choice) of parameter", "a schema compares no two values; without a type it cannot know what the default stands for"},
		{"bad-value", `^"(min|max)" of parameter`, "a schema compares no two values"},
		{"bad-value", `^a parameter of type \w+ has no`, "the type may follow from how the default is written"},
		{"bad-value", "is no regular expression", "a schema cannot try an expression; editors may, by its format"},
		{"bad-value", "the longest is 36500d", "a pattern cannot add up units"},
		{"bad-value", `^"every" is "[0-9.]+([a-z]+[0-9].*|[dhm])", but must be at least 1s`, "a pattern cannot add up units: 0.0001h"},
		{"bad-value", `is "[^"]*[1-9][^"]*", but must be longer than 0`, "a pattern cannot round: 0.0000000001s"},
		{"bad-value", `^"call" holds a NUL`, "it has one pattern with names of tasks"},
	} {
		all = append(all, mistake{u.rule, regexp.MustCompile(u.message)})
	}
	return all
})

// expressible gives a diagnostic that the schema should have given as well; ""
// if there is none. One mistake that the schema sees is enough for it to
// refuse a file, so each that it does not see must be listed.
func expressible(ds dsl.Diagnostics) string {
	for _, d := range ds {
		if !slices.ContainsFunc(unseen(), func(u mistake) bool { return d.Rule == u.rule && u.message.MatchString(d.Message) }) {
			return d.Message + " [" + d.Rule + "]"
		}
	}
	return ""
}
