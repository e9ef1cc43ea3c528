package server

import (
	"context"
	"strings"

	"github.com/ax-scheduler/ax/store"
)

// sourceLine is one line of a workflow's text, or of what has changed in it.
type sourceLine struct {
	Number int
	Text   string
	Sign   string // "+", "−" or nothing
}

const versionsShown = 20

// versionsOf gives the source of a version, and where another one is to be
// compared with, what changed since that.
func (s *Server) versionsOf(ctx context.Context, v *workflowView, current, shown, against string) error {
	found, err := s.Store.Versions(ctx, v.Name, store.Version{}, versionsShown)
	if err != nil {
		return err
	}
	known := false
	for _, f := range found {
		f.CreatedAt = s.local(f.CreatedAt)
		known = known || f.Hash == current
		v.Versions = append(v.Versions, versionRow{f, v.Loaded && f.Hash == current})
	}
	if shown == "" {
		shown = current
	}
	if against == "" && shown == current { // what the last edit changed
		switch {
		case known && len(found) > 1 && found[0].Hash == current:
			against = found[1].Hash
		case !known && len(found) > 0:
			against = found[0].Hash
		}
	}
	text, err := s.sourceOf(ctx, v.Name, shown)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if against != "" && against != shown {
		old, err := s.sourceOf(ctx, v.Name, against)
		if err != nil {
			return err
		}
		v.Against = against
		v.Source = difference(strings.Split(strings.TrimSuffix(string(old), "\n"), "\n"), lines)
		for _, l := range v.Source {
			if l.Sign != "" {
				v.Changed++
			}
		}
	} else {
		for i, l := range lines {
			v.Source = append(v.Source, sourceLine{i + 1, l, ""})
		}
	}
	if v.Cut = len(v.Source) > sourceMost; v.Cut {
		v.Source = v.Source[:sourceMost]
	}
	for i := range v.Source {
		v.Source[i].Text = clip(v.Source[i].Text, 300)
	}
	return nil
}

func clip(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return text
}

// differenceMost bounds the table of a difference: texts of more lines than
// that between their common beginning and end are shown as replaced.
const differenceMost = 1 << 20

// difference shows how one text became another: the longest common lines stay.
func difference(old, now []string) []sourceLine {
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	a, b := old[head:len(old)-tail], now[head:len(now)-tail]
	var all []sourceLine
	for i := range head {
		all = append(all, sourceLine{i + 1, now[i], ""})
	}
	all = append(all, middle(a, b, head)...)
	for i := len(now) - tail; i < len(now); i++ {
		all = append(all, sourceLine{i + 1, now[i], ""})
	}
	return all
}

func middle(a, b []string, head int) (all []sourceLine) {
	common := make([][]int32, len(a)+1) // of a[i:] and b[j:]
	if (len(a)+1)*(len(b)+1) <= differenceMost {
		for i := range common {
			common[i] = make([]int32, len(b)+1)
		}
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				if a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				} else {
					common[i][j] = max(common[i+1][j], common[i][j+1])
				}
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case common[0] != nil && i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, sourceLine{head + j + 1, b[j], ""})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[0] == nil || common[i+1][j] >= common[i][j+1]):
			all = append(all, sourceLine{0, a[i], "−"})
			i++
		default:
			all = append(all, sourceLine{head + j + 1, b[j], "+"})
			j++
		}
	}
	return all
}
