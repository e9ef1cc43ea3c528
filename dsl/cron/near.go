package cron

import "unicode/utf8"

// nearest returns the first of the words that have the smallest edit distance to the one typed, if that is at most a
// quarter of its length (one edit for three letters); otherwise the empty string.
func nearest(typed string, words []string) string {
	n := utf8.RuneCountInString(typed)
	const longest = 64 // nothing near, and the cost grows with the square
	if n < 3 || n > longest {
		return ""
	}
	best, found := max(1, n/4)+1, ""
	for _, word := range words {
		if d := distance([]rune(typed), []rune(word)); d < best {
			best, found = d, word
		}
	}
	return found
}

// distance counts the insertions, deletions and replacements that turn a into b (Levenshtein).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1) // distances of the prefix of a to every prefix of b
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		corner := row[0]
		row[0] = i + 1
		for j, y := range b {
			change := corner
			if x != y {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
