package dsl

// Folds gives the byte offsets in the value of a scalar at which YAML made one
// blank of the end of a line: in a folded block (>), and in plain and quoted
// scalars over several lines. The scalar begins at p, as for InScalar.
func (s *Source) Folds(p Pos) []int {
	at := s.skipProperties(s.Offset(p))
	if at >= len(s.Text) {
		return nil
	}
	switch c := s.Text[at]; c {
	case '|':
		return nil
	case '>':
		if t, column := s.blockAt(at); t {
			return foldsInBlock(s.Text, at, column)
		}
	case '"', '\'':
		t, _ := s.tokenAt(at)
		return foldsInFlow(s.Text[:t.end], at+1, c)
	}
	t, _ := s.tokenAt(at)
	return foldsInFlow(s.Text[:t.end], at, 0)
}

// IsFolded tells whether the scalar that begins at p is a folded block.
func (s *Source) IsFolded(p Pos) bool {
	at := s.skipProperties(s.Offset(p))
	if at >= len(s.Text) || s.Text[at] != '>' {
		return false
	}
	block, _ := s.blockAt(at)
	return block
}

// CommentBehind gives the offset in the file of the comment that follows a plain
// scalar on its line, and that of its end; false if there is none, or if the
// scalar is not plain.
func (s *Source) CommentBehind(p Pos) (from, to int, ok bool) {
	t, _ := s.tokenAt(s.Offset(p))
	if t.kind != plainToken {
		return 0, 0, false
	}
	for from = t.end; from < len(s.Text) && isBlank(s.Text[from]); from++ {
	}
	if from >= len(s.Text) || s.Text[from] != '#' || from == t.end {
		return 0, 0, false
	}
	return from, lineEnd(s.Text, from), true
}

// CommentTaken is the error that YAML takes for a comment, by its offsets in the
// file, what belongs to an expression.
func (s *Source) CommentTaken(rule string, from, to int) Diagnostic {
	return Diagnostic{File: s.File, Pos: s.Pos(from), End: s.Pos(to), Severity: Error, Rule: rule,
		Message: `YAML takes " #" and what follows for a comment, in the middle of an expression`, Hint: "put the whole text into quotes"}
}

// foldsInBlock goes over the value as inBlock does.
func foldsInBlock(text []byte, at, column int) (folds []int) {
	b := readBlock(text, at, column)
	n, first, indented := 0, true, false
	for b.next() {
		blank := isBlank(text[b.from])
		if !first && (!b.folded || indented || blank || len(b.blank) == 0) {
			if !indented && !blank && len(b.blank) == 0 {
				folds = append(folds, n)
			}
			n++
		}
		n += len(b.blank) + b.to - b.from
		first, indented = false, blank
	}
	return folds
}

// foldsInFlow goes over the value as inFlow does.
func foldsInFlow(text []byte, at int, quote byte) (folds []int) {
	for n := 0; at < len(text); {
		c := text[at]
		made, size := flowStep(text, at, quote)
		switch {
		case c == '\\' && quote == '"' && at+1 < len(text) && isBreak(text[at+1]):
			next, breaks := skipBreaks(text, at+1)
			made, size = max(breaks-1, 0), next-at
		case c == quote && !(c == '\'' && at+1 < len(text) && text[at+1] == '\''):
			return folds
		case isBlank(c) || isBreak(c):
			if _, breaks := skipBreaks(text[:at+size], at); breaks == 1 {
				folds = append(folds, n)
			}
		}
		n += made
		at += size
	}
	return folds
}
