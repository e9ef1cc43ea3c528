package dsl

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// paramKeys is the long form of a parameter.
var paramKeys = &table[Param]{"a parameter", "a default, or a map with type, default and so on", []key[Param]{
	{"type", func(v val, p *Param) { p.Type = oneOf(v, paramTypes) }},
	{"default", func(v val, p *Param) { p.Default = v.paramValue() }},
	{"required", func(v val, p *Param) { p.Required = v.boolean() }},
	{"choices", func(v val, p *Param) { p.Choices = list(v, "a list of values", val.paramValue) }},
	{"min", func(v val, p *Param) { p.Min = v.paramValue() }},
	{"max", func(v val, p *Param) { p.Max = v.paramValue() }},
	{"pattern", func(v val, p *Param) { p.Pattern = v.pattern() }},
	{"description", func(v val, p *Param) { p.Description = v.str() }},
}}

var paramTypes = []choice[ParamType]{
	{"string", ParamString}, {"int", ParamInt}, {"float", ParamFloat},
	{"bool", ParamBool}, {"date", ParamDate}, {"duration", ParamDuration},
}

// params reads the declared inputs.
func (v val) params() (all []Param) {
	variables := map[string]string{}
	v.each = true
	const shape = "a map of names to parameters"
	if v.node != nil && v.node.Kind == yaml.SequenceNode {
		v.wrongTypeHint(shape, "write each as NAME: DEFAULT, or as NAME: {type: string, required: true}")
		return nil
	}
	v.entries(shape, func(name Value[string], v val) {
		before := v.p.faults
		p := v.param()
		p.Name, p.unread = name, v.p.faults > before || v.node == nil
		if v.p.checkName("parameter name", name) {
			variable := p.Variable()
			if first, ok := variables[variable]; ok {
				v.p.add("bad-name", name.Pos, fmt.Sprintf("parameters %q and %q would both be %s", first, name.V, variable), "rename one of them")
			}
			variables[variable] = name.V
		} else if meant := repaired(name.V); meant != "" && !slices.ContainsFunc(all, func(o Param) bool { return o.Name.V == meant }) {
			p.Name.V = meant
		}
		all = append(all, p)
	})
	return all
}

// param reads a parameter in its short form, a default from whose writing the
// type follows, or in its long form.
func (v val) param() (p Param) {
	if v.node == nil {
		return p
	}
	if v.node.Kind != yaml.MappingNode {
		if isNull(v.node) {
			v.wrongTypeHint("a default", `write "" for an empty text, or {type: string, required: true} for no default`)
			return p
		}
		p.Default = v.paramValue()
		p.Type.V = inferType(v.node)
		v.checkDefault(&p)
		return p
	}
	found, _ := read(v, paramKeys, &p)
	if found.gaps.has(paramKeys, "type") { // there is nothing to hold the rest against
		return p
	}
	if !p.Type.Set() {
		p.Type.V = ParamString
		if found.key("type") == nil && p.Default.Set() {
			p.Type.V = inferType(found.value("default"))
		}
	}
	v.checkParam(&p, found)
	return p
}

// paramValue reads the text of a default, a choice or a bound.
func (v val) paramValue() Value[string] {
	if v.node != nil && isNull(v.node) {
		v.wrongTypeHint("a value", `write "" for an empty text`)
		return Value[string]{}
	}
	return v.strAs("a single value")
}

func (v val) pattern() Value[string] {
	s := v.filled()
	if !s.Set() {
		return s
	}
	if _, err := regexp.Compile(s.V); err != nil {
		v.bad(fmt.Sprintf("%s is no regular expression: %s", v.label(), strings.TrimPrefix(err.Error(), "error parsing regexp: ")),
			"the syntax is RE2, that of Go")
		return Value[string]{}
	}
	return s
}

var floatForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`) })

// inferType gives the type of a parameter from how its default is written. A
// number with a leading zero is text, since it is a code whose zeros count.
func inferType(n *yaml.Node) ParamType {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	s := n.Value
	switch {
	case !isPlain(n):
	case strings.EqualFold(s, "true") && n.Tag == "!!bool", strings.EqualFold(s, "false") && n.Tag == "!!bool":
		return ParamBool
	case isInteger(s) && isCode(s):
	case isInteger(s):
		return ParamInt
	case floatForm().MatchString(s):
		return ParamFloat
	case dateForm().MatchString(s):
		return ParamDate
	}
	return ParamString
}

// isCode tells whether an integer has a leading zero.
func isCode(integer string) bool {
	digits := strings.TrimPrefix(integer, "-")
	return len(digits) > 1 && digits[0] == '0'
}

// checkParam holds what a parameter says of itself against each other. What is
// at fault is reported and forgotten, so that one mistake stays one.
func (v val) checkParam(p *Param, f given) {
	v.checkBounds(p, f)
	if p.Pattern.Set() && p.Type.V != ParamString {
		v.p.add("bad-value", v.p.pos(f.key("pattern")), fmt.Sprintf("a parameter of type %s has no pattern", p.Type.V), "it is for strings")
		p.Pattern = Value[string]{}
	}
	choices := p.Choices
	p.Choices = nil
	for _, c := range choices {
		if err := p.Check(c.V); err != nil {
			v.p.add("bad-value", c.Pos, fmt.Sprintf("a choice of parameter %s: %v", v.label(), err), "")
			choices = nil
		}
	}
	p.Choices = choices
	v.checkDefault(p)
}

// checkDefault holds the default against the rest.
func (v val) checkDefault(p *Param) {
	if !p.Default.Set() {
		return
	}
	if err := p.Check(p.Default.V); err != nil {
		v.p.add("bad-value", p.Default.Pos, fmt.Sprintf("the default of parameter %s: %v", v.label(), err), "")
	}
}

// checkBounds looks at min and max, which only some types can have.
func (v val) checkBounds(p *Param, f given) {
	for _, b := range []struct {
		name string
		at   *Value[string]
	}{{"min", &p.Min}, {"max", &p.Max}} {
		if !b.at.Set() {
			continue
		}
		_, err := p.measure(b.at.V)
		switch {
		case p.Type.V == ParamString || p.Type.V == ParamBool:
			v.p.add("bad-value", v.p.pos(f.key(b.name)), fmt.Sprintf("a parameter of type %s has no %q", p.Type.V, b.name),
				"it is for int, float, date and duration: set the type")
		case err != nil:
			v.p.add("bad-value", b.at.Pos, fmt.Sprintf("%q of parameter %s: %v", b.name, v.label(), err), "")
		default:
			continue
		}
		*b.at = Value[string]{}
	}
	if p.Min.Set() && p.Max.Set() && p.below(p.Max.V, p.Min.V) {
		v.p.add("bad-value", p.Max.Pos, fmt.Sprintf("\"max\" of parameter %s is below its \"min\", %s", v.label(), p.Min.V), "")
		p.Min, p.Max = Value[string]{}, Value[string]{}
	}
}

// Variable is the name of the environment variable that a parameter of this
// name arrives in.
func (p *Param) Variable() string {
	return "AX_PARAM_" + strings.ToUpper(strings.ReplaceAll(p.Name.V, "-", "_"))
}

// Check tells whether a value fits a parameter: its type, choices, bounds and
// pattern. The error names the value and what is allowed, not the parameter.
func (p *Param) Check(value string) error {
	if strings.IndexByte(value, 0) >= 0 {
		return fmt.Errorf("%s holds a NUL character", quote(value))
	}
	if _, err := p.measure(value); err != nil {
		return err
	}
	if len(p.Choices) > 0 {
		words := make([]string, len(p.Choices))
		for i, c := range p.Choices {
			words[i] = c.V
		}
		if !slices.Contains(words, value) {
			return fmt.Errorf("%s is none of %s", quote(value), clip(strings.Join(words, ", "), 200))
		}
	}
	switch {
	case p.Min.Set() && p.below(value, p.Min.V):
		return fmt.Errorf("%s is below %s", quote(value), p.Min.V)
	case p.Max.Set() && p.below(p.Max.V, value):
		return fmt.Errorf("%s is above %s", quote(value), p.Max.V)
	}
	if p.Pattern.Set() {
		whole, err := regexp.Compile(`\A(?:` + p.Pattern.V + `)\z`)
		if err != nil {
			return fmt.Errorf("pattern %s: %w", quote(p.Pattern.V), err)
		}
		if !whole.MatchString(value) {
			return fmt.Errorf("%s does not match the pattern %s", quote(value), quote(p.Pattern.V))
		}
	}
	return nil
}

// measure checks a value against the type, and gives a number that orders the
// values of a type other than int.
func (p *Param) measure(value string) (float64, error) {
	switch p.Type.V {
	case ParamInt:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil || !isInteger(value) {
			return 0, fmt.Errorf("%s is no integer", quote(value))
		}
	case ParamFloat:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !floatForm().MatchString(value) {
			return 0, fmt.Errorf("%s is no number", quote(value))
		}
		return f, nil
	case ParamBool:
		if value != "true" && value != "false" {
			return 0, fmt.Errorf("%s is neither true nor false", quote(value))
		}
	case ParamDate:
		d, err := ParseDate(value)
		if err != nil {
			return 0, fmt.Errorf("%s is no date, such as 2026-01-31", quote(value))
		}
		return float64(d.Year*10000 + int(d.Month)*100 + d.Day), nil
	case ParamDuration:
		d, err := ParseDuration(value)
		if err != nil {
			return 0, fmt.Errorf("%s is no duration: %w", quote(value), err)
		}
		return float64(d), nil
	}
	return 0, nil
}

// below compares two values that fit the type.
func (p *Param) below(a, b string) bool {
	if p.Type.V == ParamInt { // beyond what a float can tell apart
		x, _ := strconv.ParseInt(a, 10, 64)
		y, _ := strconv.ParseInt(b, 10, 64)
		return x < y
	}
	x, _ := p.measure(a)
	y, _ := p.measure(b)
	return x < y
}
