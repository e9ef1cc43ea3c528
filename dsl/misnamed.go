package dsl

import "strings"

// IsName tells whether a text can name a workflow, a task or a parameter. In a
// file with mistakes a task or a parameter may be called otherwise; such a name
// is not one to suggest.
func IsName(s string) bool { return isIdentifier(s) }

// repaired gives the name that a refused one would be with "_" in place of what
// cannot be in a name, or nothing where that is not obvious.
func repaired(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r > '~':
			return r
		}
		return '_'
	}, strings.Trim(name, " "+curly))
	if name != "" && (name[0] == '-' || name[0] >= '0' && name[0] <= '9') {
		name = "_" + name
	}
	if !isIdentifier(name) || strings.Trim(name, "_") == "" {
		return ""
	}
	return name
}

// lettersOf gives what is left of a name without all that a repair may change.
func lettersOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r <= '~' && !isWord("_"+string(r), "") || r == '_' {
			return -1
		}
		return r
	}, strings.Trim(name, curly))
}

// mendNames calls tasks whose ids have been refused by what they were meant to
// be called, here and where they are named, so that nothing else is wrong for
// that one mistake. Where it is not known what was meant, any task may be.
func (p *parser) mendNames() {
	tasks := p.wf.Tasks
	var taken map[string]bool
	mended := map[string]string{} // by letters
	for i := range tasks {
		id := &tasks[i].ID
		if isIdentifier(id.V) {
			continue
		}
		if taken == nil {
			taken = make(map[string]bool, len(tasks))
			for j := range tasks {
				taken[tasks[j].ID.V] = true
			}
		}
		if name := repaired(id.V); name != "" && !taken[name] {
			taken[name] = true
			delete(taken, id.V)
			mended[lettersOf(id.V)], id.V = name, name
		} else {
			p.wf.gaps |= gapOf(workflowKeys, "tasks")
		}
	}
	if len(mended) == 0 {
		return
	}
	mend := func(name *string) {
		if meant := mended[lettersOf(*name)]; meant != "" && !taken[*name] {
			*name = meant
		}
	}
	for _, names := range [][]Value[string]{p.wf.OnFailure, p.wf.OnSuccess, p.wf.OnFinish} {
		for i := range names {
			mend(&names[i].V)
		}
	}
	for i := range tasks {
		for j := range tasks[i].DependsOn {
			mend(&tasks[i].DependsOn[j].Task.V)
		}
		for j := range tasks[i].OnFailure {
			mend(&tasks[i].OnFailure[j].V)
		}
	}
}
