package lsp

import "strings"

// part is one word of a dotted name in an expression, by byte offsets of that.
type part struct {
	word     string
	from, to int
}

// names gives the dotted names of an expression, such as tasks.load.state, a
// function by itself. What is not an expression yet is read as far as it makes
// sense. Where a hyphen could be a minus as well, the longest task that there is
// counts, as in package expression.
func names(code string, isTask func(id string) bool) (all [][]part) {
	for at := 0; at < len(code); {
		switch c := code[at]; {
		case c == '\'' || c == '"' || c == '`':
			at += literal(code[at:])
		case isWord(c) && (c < '0' || c > '9'):
			var name []part
			name, at = dotted(code, at, isTask)
			all = append(all, name)
		case c == '.' || c == '#':
			at++
			at += wordLength(code[at:]) // a part of something else
		case isWord(c):
			at += wordLength(code[at:])
		default:
			at++
		}
	}
	return all
}

// dotted reads the name that begins at an offset, and gives where it ends.
func dotted(code string, at int, isTask func(id string) bool) ([]part, int) {
	n := wordLength(code[at:])
	name := []part{{code[at : at+n], at, at + n}}
	for end := at + n; ; {
		from := skipBlanks(code, end)
		switch rest := code[from:]; {
		case strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, ".."), strings.HasPrefix(rest, "?."):
			from = skipBlanks(code, from+strings.IndexByte(rest, '.')+1)
			n := extent(name, code[from:], isTask)
			if n == 0 {
				return name, end
			}
			name, end = append(name, part{code[from : from+n], from, from + n}), from+n
		case strings.HasPrefix(rest, "["):
			from = skipBlanks(code, from+1)
			if from == len(code) || strings.IndexByte("'\"`", code[from]) < 0 {
				return name, end
			}
			to := from + literal(code[from:])
			behind := skipBlanks(code, to)
			if to < from+2 || !strings.HasPrefix(code[behind:], "]") || strings.ContainsAny(code[from:to], "\\\n") {
				return name, end
			}
			name, end = append(name, part{code[from+1 : to-1], from + 1, to - 1}), behind+1
		default:
			return name, end
		}
	}
}

// extent gives how much of a text is the next part of a name.
func extent(name []part, text string, isTask func(id string) bool) int {
	root, before := name[0].word, name[len(name)-1].word
	hyphens := len(name) == 1 && (root == "tasks" || root == "params" || root == "secrets") || len(name) > 1 && before == "outputs"
	if !hyphens {
		return wordLength(text)
	}
	whole := 0
	for whole < len(text) && (isWord(text[whole]) || text[whole] == '-') {
		whole++
	}
	if root == "tasks" && len(name) == 1 {
		for n := whole; n > 0; n = strings.LastIndexByte(text[:n], '-') {
			if isTask(text[:n]) {
				return n
			}
		}
	}
	return len(strings.TrimRight(text[:whole], "-"))
}

// literal gives the length of the string literal that a text begins with; of
// one without an end, all of the text.
func literal(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == text[0]:
			return i + 1
		case text[i] == '\\' && text[0] != '`':
			i++
		}
	}
	return len(text)
}

// openLiteral tells whether a text that ends too early ends within a string.
func openLiteral(code string) bool {
	for at := 0; at < len(code); {
		if strings.IndexByte("'\"`", code[at]) < 0 {
			at++
			continue
		}
		n := literal(code[at:])
		if at+n == len(code) && (n < 2 || code[len(code)-1] != code[at] || code[len(code)-2] == '\\') {
			return true
		}
		at += n
	}
	return false
}

func skipBlanks(text string, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	return at
}

func wordLength(text string) int {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return n
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9' || c >= 0x80
}
