package executor

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func ExampleRegistry() {
	type load struct {
		Region string
		Limit  int           `ax:"max_rows"`
		Within time.Duration `ax:",optional"`
	}
	var calls Registry
	err := calls.Register("load_sales", func(ctx context.Context, args load) (map[string]string, error) {
		fmt.Fprintf(Log(ctx), "loading %s\n", args.Region)
		return map[string]string{"rows": "42"}, nil
	})
	fmt.Println(err)

	params, _ := calls.Params("load_sales")
	fmt.Println(params)
	for _, p := range calls.Check("load_sales", map[string]string{"region": "cn", "max_row": "10"}) {
		fmt.Println(p)
	}
	// Output:
	// <nil>
	// [{region string true} {max_rows int true} {within duration false}]
	// parameter "max_rows" (int) is missing
	// there is no parameter "max_row": did you mean "max_rows"?
}

func TestOnlyFunctionsOfTheTwoShapesAreRegistered(t *testing.T) {
	type fits = func(context.Context, none) error
	var missing fits
	for name, c := range map[string]struct {
		name string
		fn   any
		says string
	}{
		"one that fits":             {"ok", func(context.Context, none) error { return nil }, ""},
		"one with outputs":          {"ok2", func(context.Context, none) (map[string]string, error) { return nil, nil }, ""},
		"no name":                   {"", func(context.Context, none) error { return nil }, `register "": a name has letters`},
		"a name that is none":       {"a b", func(context.Context, none) error { return nil }, `register "a b": a name has letters`},
		"a long name":               {strings.Repeat("a", 65), func(context.Context, none) error { return nil }, `at most 64`},
		"no function":               {"f", "text", "string is no function"},
		"nothing":                   {"f", nil, "<nil> is no function"},
		"a nil function":            {"f", missing, "is no function"},
		"no context":                {"f", func(none) error { return nil }, "must be func(context.Context, T) error"},
		"no struct":                 {"f", func(context.Context, string) error { return nil }, "T a struct"},
		"a pointer":                 {"f", func(context.Context, *none) error { return nil }, "T a struct"},
		"no error":                  {"f", func(context.Context, none) {}, "must be func"},
		"another result":            {"f", func(context.Context, none) (int, error) { return 0, nil }, "must be func"},
		"a list of arguments":       {"f", func(context.Context, ...none) error { return nil }, "must be func"},
		"a type that is no param's": {"f", func(context.Context, struct{ C chan int }) error { return nil }, "field C: type chan int cannot be a parameter"},
		"an unknown option": {"f", func(context.Context, struct {
			A int `ax:"a,maybe"`
		}) error {
			return nil
		}, `field A: "maybe" is no option`},
		"a bad name of a parameter": {"f", func(context.Context, struct {
			A int `ax:"a b"`
		}) error {
			return nil
		}, `field A: "a b" is no name`},
		"two parameters of one name": {"f", func(context.Context, struct {
			UserID int
			B      int `ax:"user_id"`
		}) error {
			return nil
		}, `field B: another field is called "user_id"`},
	} {
		t.Run(name, func(t *testing.T) {
			var r Registry
			err := r.Register(c.name, c.fn)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
			if _, known := r.Params(c.name); known != (err == nil) {
				t.Errorf("known is %v", known)
			}
		})
	}
}

func TestANameIsTakenOnce(t *testing.T) {
	var r Registry
	fn := func(context.Context, none) error { return nil }
	for _, name := range []string{"b", "a"} {
		if err := r.Register(name, fn); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Register("a", fn); err == nil || !strings.Contains(err.Error(), `register "a": the name is taken`) {
		t.Errorf("error %v", err)
	}
	if names := r.Names(); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("names %q", names)
	}
}

func TestWithoutARegistryNothingIsKnown(t *testing.T) {
	var r *Registry
	if _, known := r.Params("f"); known || r.Names() != nil {
		t.Error("something is known")
	}
	if p := r.Check("f", nil); len(p) != 1 || p[0].Kind != UnknownFunction {
		t.Errorf("problems %v", p)
	}
}

func TestACheckFindsEverythingThatIsWrong(t *testing.T) {
	var r Registry
	err := r.Register("load", func(context.Context, struct {
		Region string
		Count  int
		Ratio  float64 `ax:",optional"`
	}) error {
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Check("load", map[string]string{"Region": "x", "count": "many", "xyz": ""})
	want := []Problem{
		{MissingParam, "region", `parameter "region" (string) is missing`, ""},
		{BadValue, "count", `parameter "count": "many" is no int`, "write decimal digits, as in 42"},
		{UnknownParam, "Region", `there is no parameter "Region"`, `did you mean "region"?`},
		{UnknownParam, "xyz", `there is no parameter "xyz"`, "there are region, count, ratio"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("problems\n%v, want\n%v", got, want)
	}
	if got := r.Check("laod", nil); len(got) != 1 || got[0].Error() != `no function "laod" is registered: did you mean "load"?` {
		t.Errorf("problems %v", got)
	}
	if got := r.Check("load", map[string]string{"region": "", "count": "1"}); got != nil {
		t.Errorf("problems %v", got)
	}
}

func TestValuesAreWrittenAsTheirTypeSays(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		sample any // of the type
		text   string
		want   any // nil if it is refused
	}{
		{"", "", ""}, {"", " 010 ", " 010 "},
		{false, "true", true}, {false, "false", false}, {false, "yes", nil}, {false, "1", nil}, {false, "True", nil}, {false, "", nil},
		{0, "42", 42}, {0, "-1", -1}, {0, "+7", 7}, {0, "010", 10},
		{0, "1.0", nil}, {0, "0x1F", nil}, {0, "1_000", nil}, {0, " 1", nil}, {0, "", nil}, {0, "9223372036854775808", nil},
		{int64(0), "-9223372036854775808", int64(-1 << 63)},
		{0.0, "0.5", 0.5}, {0.0, "-1e3", -1000.0}, {0.0, ".5", 0.5}, {0.0, "5.", 5.0},
		{0.0, "NaN", nil}, {0.0, "inf", nil}, {0.0, "1e999", nil}, {0.0, "0x1p4", nil}, {0.0, "1_0", nil}, {0.0, "", nil},
		{day, "500ms", 500 * time.Millisecond}, {day, "1h30m", 90 * time.Minute}, {day, "2d", 2 * day}, {day, "1d12h", 36 * time.Hour},
		{day, "90", 90 * time.Second}, {day, "0.5", time.Second / 2}, {day, "1.5h", 90 * time.Minute}, {day, "0", time.Duration(0)},
		{day, "", nil}, {day, "-5s", nil}, {day, "5", 5 * time.Second}, {day, "5 s", nil}, {day, "1d-3h", nil}, {day, "5us", nil},
		{day, "d", nil}, {day, "1e3", nil}, {day, "106751d", 106751 * day}, {day, "106752d", nil}, {day, "99999999999999999999d", nil}, {day, "9999999999h", nil},
		{time.Time{}, "2026-01-31", time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)},
		{time.Time{}, "2026-01-31T08:00:00Z", time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)},
		{time.Time{}, "2026-02-30", nil}, {time.Time{}, "31.01.2026", nil}, {time.Time{}, "", nil},
		{[]string{}, "a", []string{"a"}}, {[]string{}, "a, b ,c", []string{"a", "b", "c"}}, {[]string{}, `["a,b", ""]`, []string{"a,b", ""}},
		{[]string{}, "[]", []string{}}, {[]string{}, " ", []string(nil)}, {[]string{}, "[1]", nil}, {[]string{}, `["a"`, nil},
	} {
		v := reflect.New(reflect.TypeOf(c.sample)).Elem()
		kind, set := setter(v.Type())
		err := set(v, c.text)
		switch {
		case c.want == nil && err == nil:
			t.Errorf("%q is taken as the %s %v", c.text, kind, v)
		case c.want == nil && strings.TrimSpace(err.Error()) == "":
			t.Errorf("%q is refused as a %s without a reason", c.text, kind)
		case c.want != nil && (err != nil || !reflect.DeepEqual(v.Interface(), c.want)):
			t.Errorf("%q as a %s is %v, error %v, want %v", c.text, kind, v, err, c.want)
		}
	}
}

func TestNamedTypesAreTakenAsTheirKind(t *testing.T) {
	type region string
	var got region
	_, o := call(t, func(_ context.Context, args struct{ R region }) error { got = args.R; return nil }, map[string]string{"r": "cn"})
	if wantExit(t, o, 0); got != "cn" {
		t.Errorf("the argument is %q", got)
	}
}

func TestFieldNamesBecomeSnakeCase(t *testing.T) {
	for field, want := range map[string]string{
		"A": "a", "Region": "region", "MaxAge": "max_age", "HTTPPort": "http_port", "UserID": "user_id", "URL": "url",
		"Max_Rows": "max_rows", "V2Name": "v2_name", "ÀB": "àb",
	} {
		if got := snake(field); got != want {
			t.Errorf("%s becomes %s, want %s", field, got, want)
		}
	}
}

func TestNoTextMakesACallPanic(t *testing.T) {
	var r Registry
	type args struct {
		S string
		B bool
		I int
		F float64
		D time.Duration
		T time.Time
		L []string
	}
	if err := r.Register("f", func(context.Context, args) error { return nil }); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+0-9dhms.eE]{0,12}`))
		with := map[string]string{}
		for _, key := range []string{"s", "b", "i", "f", "d", "t", "l"} {
			with[key] = text.Draw(t, key)
		}
		bad := maps.Clone(with)
		for _, p := range r.Check("f", with) {
			if p.Kind != BadValue || bad[p.Param] != with[p.Param] {
				t.Errorf("problem %v of %q", p, with)
			}
		}
	})
}
