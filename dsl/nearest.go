package dsl

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nearest gives the known word that a mistyped one was most likely meant to
// be, or nothing if none is near. Blanks around the word, letter case and the
// difference between - and _ count for nothing; otherwise an insertion, a
// deletion, a replacement and an exchange of neighbours count one each
// (Damerau and Levenshtein, in the restricted form), and one to three are
// allowed by the length of the word. Of equally near words the first wins. Where
// none is so near, the word may be the beginning of just one.
// Most words are passed over without a look at their letters' order, so
// 100,000 known words are no trouble.
func Nearest(word string, known []string) string {
	word = strings.TrimSpace(word)
	for _, k := range known {
		if sameWord(word, k) {
			return k
		}
	}
	w := []rune(strings.ToLower(word))
	limit := nearLimit(len(w))
	if limit == 0 {
		return ""
	}
	best, letters := abbreviated(word, known), letterSet(word)
	var d distance
	for _, k := range known {
		if n := utf8.RuneCountInString(k); n > len(w)+limit || n < len(w)-limit {
			continue
		}
		if bits.OnesCount32(letters^letterSet(k)) > 2*limit {
			continue
		}
		if n := d.between(w, []rune(strings.ToLower(k)), limit); n <= limit {
			if n == 1 {
				return k // 0 was found above
			}
			best, limit = k, n-1
		}
	}
	return best
}

// abbreviated gives the known word that begins with another, if just one does.
func abbreviated(word string, known []string) (long string) {
	if len(word) < 3 {
		return ""
	}
	for _, k := range known {
		if strings.HasPrefix(k, word) {
			if long != "" {
				return ""
			}
			long = k
		}
	}
	return long
}

// nearLimit is how many slips a word of so many letters may have.
func nearLimit(letters int) int {
	switch {
	case letters < 2 || letters > 100:
		return 0
	case letters < 5:
		return 1
	case letters < 9:
		return 2
	}
	return 3
}

// sameWord tells whether two words are one, but for letter case, - and _.
func sameWord(a, b string) bool {
	for {
		var x, y rune
		x, a = nextLetter(a)
		y, b = nextLetter(b)
		if x != y {
			return false
		}
		if x == 0 {
			return true
		}
	}
}

// nextLetter takes the first character that is neither - nor _ off a word, in
// lower case; 0 at the end.
func nextLetter(word string) (rune, string) {
	for word != "" {
		r, size := utf8.DecodeRuneInString(word)
		word = word[size:]
		if r != '-' && r != '_' {
			return unicode.ToLower(r), word
		}
	}
	return 0, ""
}

// letterSet has a bit for each kind of ASCII letter in a word. One slip changes
// at most two of them.
func letterSet(word string) (set uint32) {
	for i := range len(word) {
		if word[i] < utf8.RuneSelf {
			set |= 1 << (word[i] & 31)
		}
	}
	return set
}

// distance holds the rows of the table of edit distances for reuse.
type distance struct{ before, above, row []int }

// between gives the edit distance of two words, or more than limit as soon as
// it is known to exceed that.
func (d *distance) between(a, b []rune, limit int) int {
	for len(d.row) <= len(b) {
		d.before, d.above, d.row = append(d.before, 0), append(d.above, 0), append(d.row, 0)
	}
	for j := range len(b) + 1 {
		d.row[j] = j
	}
	for i := range a {
		d.before, d.above, d.row = d.above, d.row, d.before
		d.row[0] = i + 1
		least := i + 1
		for j := range b {
			n := d.above[j]
			if a[i] != b[j] {
				n = 1 + min(n, d.above[j+1], d.row[j])
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					n = min(n, 1+d.before[j-1])
				}
			}
			d.row[j+1] = n
			least = min(least, n)
		}
		if least > limit {
			return limit + 1
		}
	}
	return d.row[len(b)]
}
