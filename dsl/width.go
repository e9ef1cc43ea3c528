package dsl

import "unicode"

// wide lists the characters that take two cells in a terminal: those that
// Unicode's East_Asian_Width calls wide or full-width. Ranges are joined over
// gaps that hold no characters.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x2329, 0x232a, 1}, {0x23e9, 0x23ec, 1}, {0x23f0, 0x23f3, 3},
		{0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1}, {0x2630, 0x2637, 1}, {0x2648, 0x2653, 1}, {0x267f, 0x2693, 20},
		{0x268a, 0x268f, 1}, {0x26a1, 0x26aa, 9}, {0x26ab, 0x26bd, 18}, {0x26be, 0x26c4, 6}, {0x26c5, 0x26ce, 9},
		{0x26d4, 0x26ea, 22}, {0x26f2, 0x26f3, 1}, {0x26f5, 0x26fa, 5}, {0x26fd, 0x2705, 8}, {0x270a, 0x270b, 1},
		{0x2728, 0x274c, 36}, {0x274e, 0x2753, 5}, {0x2754, 0x2755, 1}, {0x2757, 0x2795, 62}, {0x2796, 0x2797, 1},
		{0x27b0, 0x27bf, 15}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b55, 5}, {0x2e80, 0x303e, 1}, {0x3041, 0x3247, 1},
		{0x3250, 0xa4c6, 1}, {0xa960, 0xa97c, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6b, 1}, {0xff01, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18d08, 1}, {0x1aff0, 0x1b2fb, 1}, {0x1d300, 0x1d376, 1}, {0x1f004, 0x1f0cf, 203}, {0x1f18e, 0x1f191, 3},
		{0x1f192, 0x1f19a, 1}, {0x1f200, 0x1f265, 1}, {0x1f300, 0x1f320, 1}, {0x1f32d, 0x1f335, 1}, {0x1f337, 0x1f37c, 1},
		{0x1f37e, 0x1f393, 1}, {0x1f3a0, 0x1f3ca, 1}, {0x1f3cf, 0x1f3d3, 1}, {0x1f3e0, 0x1f3f0, 1}, {0x1f3f4, 0x1f3f8, 4},
		{0x1f3f9, 0x1f43e, 1}, {0x1f440, 0x1f442, 2}, {0x1f443, 0x1f4fc, 1}, {0x1f4ff, 0x1f53d, 1}, {0x1f54b, 0x1f54e, 1},
		{0x1f550, 0x1f567, 1}, {0x1f57a, 0x1f595, 27}, {0x1f596, 0x1f5a4, 14}, {0x1f5fb, 0x1f64f, 1}, {0x1f680, 0x1f6c5, 1},
		{0x1f6cc, 0x1f6d0, 4}, {0x1f6d1, 0x1f6d2, 1}, {0x1f6d5, 0x1f6d7, 1}, {0x1f6dc, 0x1f6df, 1}, {0x1f6eb, 0x1f6ec, 1},
		{0x1f6f4, 0x1f6fc, 1}, {0x1f7e0, 0x1f7eb, 1}, {0x1f7f0, 0x1f90c, 284}, {0x1f90d, 0x1f93a, 1}, {0x1f93c, 0x1f945, 1},
		{0x1f947, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1}, {0x20000, 0x2fffd, 1}, {0x30000, 0x3fffd, 1},
	},
}

const (
	softHyphen     = '\u00ad'
	joiner         = '\u200d' // glues two emoji into one
	emojiSelector  = '\ufe0f' // makes a text character an emoji, two cells wide
	tabWidth       = 8
	firstSkinTone  = '\U0001f3fb'
	lastSkinTone   = '\U0001f3ff'
	replacement    = '\ufffd'
	hangulVowels   = '\u1160' // to 11ff: joined to the consonant before them
	lastHangulPart = '\u11ff'
)

// cells gives the number of terminal cells of a character that follows another.
func cells(before, r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == emojiSelector:
		if before != 0 && before != joiner && cells(0, before) == 1 {
			return 1 // what was one cell wide becomes two
		}
		return 0
	case before == joiner, unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) && r != softHyphen,
		r >= hangulVowels && r <= lastHangulPart,
		r >= firstSkinTone && r <= lastSkinTone && before != 0 && unicode.Is(wide, before):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// printable replaces what would disturb a terminal or hide what a line really
// says: control characters, and those that change the direction of writing.
func printable(r rune) rune {
	if r != '\t' && unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) ||
		r == nextLine || r == lineSeparator || r == paragraphSeparator {
		return replacement
	}
	return r
}
