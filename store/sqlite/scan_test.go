package sqlite

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// What is read as plain pairs is what a decoder reads, and what is no object of plain
// texts is left to that.
func TestPlainPairsAreThoseOfADecoder(t *testing.T) {
	for text, plain := range map[string]bool{
		`{"a":"b"}`: true, `{"a":"b","c":""}`: true, `{"":"x:y,z}"}`: true, `{"a":"b","a":"c"}`: true, `{"a":"{}"}`: true,
		``: false, `{}`: false, `{"a"}`: false, `{"a":"b"`: false, `{"a":"b",}`: false, `{"a":"b"} `: false, `{"a":"b"}}`: false,
		`{"a":1}`: false, `{"a":"b\n"}`: false, `{"a":"\u00e9"}`: false, `{"a":"é"}`: false, `{"a","b"}`: false, `{"a":"b":"c"}`: false,
		`{"a":"b`: false, `{"`: false, `{"a":"b";"c":"d"}`: false, "{\"a\":\"\x01\"}": false, `[]`: false, `7`: false,
	} {
		var got, want map[string]string
		ok := plainPairs(text, &got)
		if err := json.Unmarshal([]byte(text), &want); ok && (err != nil || !reflect.DeepEqual(got, want)) {
			t.Errorf("%s is %v, expected %v (%v)", text, got, want, err)
		}
		if ok != plain {
			t.Errorf("%s is plain: %v", text, ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOf(rapid.RuneFrom([]rune(`ab:,{}"\ é` + "\n")))
		want := rapid.MapOfN(word, word, 1, 4).Draw(t, "pairs")
		text := pairs(want).(string)
		if cut := rapid.IntRange(0, len(text)).Draw(t, "cut"); rapid.Bool().Draw(t, "damaged") {
			text = text[:cut]
		}
		var got, decoded map[string]string
		if !plainPairs(text, &got) {
			return
		}
		if err := json.Unmarshal([]byte(text), &decoded); err != nil || !reflect.DeepEqual(got, decoded) {
			t.Fatalf("%s is %v, expected %v (%v)", text, got, decoded, err)
		}
	})
}
