package machine

import (
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/dag"
)

// Instance names one instance of a task with foreach. The zero value is none:
// the task itself.
type Instance int

// InstanceOf gives the instance of the item with an index, from 0; -1 gives
// none.
func InstanceOf(index int) Instance { return Instance(index + 1) }

// Index gives the place of the instance's item, from 0; -1 for none.
func (i Instance) Index() int { return int(i) - 1 }

// Name gives the name by which an instance of a task is shown: load[3], or just
// load for none.
func (i Instance) Name(task string) string {
	if i == 0 {
		return task
	}
	return task + "[" + strconv.Itoa(i.Index()) + "]"
}

// ParseName is the inverse of Name.
func ParseName(name string) (task string, i Instance, ok bool) {
	task, index, named := strings.Cut(name, "[")
	if !named {
		return name, 0, true
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(index, "]"), 10, 31)
	i = InstanceOf(int(n))
	return task, i, err == nil && i.Name(task) == name
}

// Unit is what attempts are made of: a task, or one instance of a task with
// foreach.
type Unit struct {
	Task     dag.Task
	Instance Instance
}

// whole is a task itself.
func whole(t dag.Task) Unit { return Unit{Task: t} }

// Unit gives what is to be started.
func (c StartAttempt) Unit() Unit { return Unit{c.Task, c.Instance} }

// Unit gives what is to be stopped.
func (c StopAttempt) Unit() Unit { return Unit{c.Task, c.Instance} }

// Unit gives what the timer is of.
func (c WakeAt) Unit() Unit { return Unit{c.Task, c.Instance} }

// String gives the task's number, and the instance's if there is one.
func (u Unit) String() string { return u.Instance.Name(strconv.Itoa(int(u.Task))) }
