package runtime

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/runtime/machine"
)

// The limits of a foreach: how many items it may have, and how large all of
// them may be as JSON, since they are kept with the run.
const (
	maxItems     = 100_000
	maxItemBytes = 16 << 20
)

// maxItemVariable is how long an item may be for AX_ITEM to have it: what is
// much longer keeps Linux from starting a process.
const maxItemVariable = 64 << 10

// expand answers with the items of a foreach.
func (l *live) expand(t dag.Task, at time.Time) machine.Expanded {
	items, err := l.itemsOf(t)
	if err != nil {
		return machine.Expanded{Task: t, Error: l.env.mask.Text(err.Error()), At: at}
	}
	return machine.Expanded{Task: t, Items: items, At: at}
}

// itemsOf evaluates the items of a foreach, each as JSON.
func (l *live) itemsOf(t dag.Task) ([]string, error) {
	foreach, programs := l.run.Plan().Tasks[t].Spec.Foreach, &l.env.programs.tasks[t]
	values := l.valuesFor(t)
	if programs.foreach == nil {
		c := itemCollector{src: l.env.src}
		for i, item := range programs.items {
			text, err := item.Text(&values)
			if err != nil {
				return nil, placedError(l.env.src, foreach.Items[i].Pos, err)
			}
			if err := c.add(text, len(programs.items), foreach.Items[i].Pos); err != nil {
				return nil, err
			}
		}
		return c.items, nil
	}
	v, err := programs.foreach.Eval(&values)
	if err != nil {
		return nil, placedError(l.env.src, foreach.Expr.Pos, err)
	}
	c := itemCollector{src: l.env.src}
	list, _ := v.([]any) // it was compiled for one
	for _, item := range list {
		if err := c.add(item, len(list), foreach.Expr.Pos); err != nil {
			return nil, err
		}
	}
	return c.items, nil
}

// itemCollector gathers items as JSON, as far as the limits allow.
type itemCollector struct {
	src   *dsl.Source
	items []string
	bytes int
}

func (c *itemCollector) add(item any, of int, at dsl.Pos) error {
	if of > maxItems {
		return c.fault(at, fmt.Sprintf("there are %d items, at most %d are allowed: let one instance take several of them", of, maxItems))
	}
	text, err := expression.JSON(item)
	if err != nil {
		return c.fault(at, fmt.Sprintf("item %d: %s", len(c.items), err))
	}
	if c.bytes += len(text); c.bytes > maxItemBytes {
		return c.fault(at, fmt.Sprintf("the items are larger than %d MiB together: put what is large into files", maxItemBytes>>20))
	}
	c.items = append(c.items, text)
	return nil
}

func (c *itemCollector) fault(at dsl.Pos, what string) error {
	return fmt.Errorf("%s:%d:%d: %w", c.src.File, at.Line, at.Col, errors.New(what))
}

// instance reads the item of an instance, and gives the variables that only
// instances have: none for another task.
func (j *job) instance() ([]string, error) {
	if j.item == "" {
		return nil, nil
	}
	item, err := expression.ParseJSON(j.item)
	if err != nil {
		return nil, err
	}
	j.values.Item = item
	vars := []string{"AX_TASK=" + j.spec.ID.V, fmt.Sprintf("AX_INDEX=%d", j.values.Index)}
	text := j.item
	if s, ok := item.(string); ok {
		text = s
	}
	if len(text) <= maxItemVariable && !strings.Contains(text, "\x00") {
		vars = append(vars, "AX_ITEM="+text)
	}
	return vars, nil
}

// lists are the outputs of a foreach by their keys: a value an instance, nil
// where it has none.
type lists map[string][]any

// listsOf gives the outputs of the instances of a foreach that has ended, nil of
// every other task. They are put together once, since each attempt downstream
// may ask for them.
func (l *live) listsOf(t dag.Task) *expression.Each {
	n := l.run.Instances(t)
	if v := l.run.Task(t); l.run.Plan().Tasks[t].Spec.Foreach == nil || !v.State.Final() || n == 0 && v.State != machine.Succeeded {
		return nil
	}
	all, known := l.lists[t]
	if !known {
		all = lists{}
		for i := range n {
			for key, value := range l.run.View(machine.Unit{Task: t, Instance: machine.InstanceOf(i)}).Outputs {
				if all[key] == nil {
					all[key] = make([]any, n)
				}
				all[key][i] = value
			}
		}
		if l.lists == nil {
			l.lists = map[dag.Task]lists{}
		}
		l.lists[t] = all
	}
	return &expression.Each{Count: n, Outputs: all}
}

// InstancesText tells how many instances there are, and their numbers.
func InstancesText(n int) string {
	switch n {
	case 0:
		return "no instances"
	case 1:
		return "1 instance, 0"
	}
	return fmt.Sprintf("%d instances, 0 to %d", n, n-1)
}
