package store_test

import (
	"testing"
	"time"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/storetest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return new(store.Memory) })
}

func TestBatchIsEmptyWhenNoPartHasARecord(t *testing.T) {
	if b := (store.Batch{}); !b.Empty() {
		t.Error("a batch without records is not empty")
	}
	for name, b := range map[string]store.Batch{
		"versions": {Versions: make([]store.Version, 1)},
		"create":   {Create: make([]store.Run, 1)},
		"update":   {Update: make([]store.Run, 1)},
		"append":   {Append: make([]store.Appended, 1)},
		"tasks":    {Tasks: make([]store.Task, 1)},
		"attempts": {Attempts: make([]store.Attempt, 1)},
		"ticks":    {Ticks: make([]store.Tick, 1)},
		"messages": {Messages: make([]store.Message, 1)},
		"tries":    {Tries: make([]store.Try, 1)},
		"purge":    {Purge: time.Unix(1, 0)},
	} {
		if b.Empty() {
			t.Errorf("a batch with %s is empty", name)
		}
	}
}
