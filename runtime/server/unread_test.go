package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/ax-scheduler/ax/store"
)

// unreadable is a store that can fail to read single records.
type unreadable struct {
	store.Store
	fails atomic.Bool
}

func (u *unreadable) Run(ctx context.Context, id string) (store.Run, error) {
	if u.fails.Load() {
		return store.Run{}, errors.New("the disk cannot be read")
	}
	return u.Store.Run(ctx, id)
}

func (u *unreadable) Version(ctx context.Context, hash string) (store.Version, error) {
	if u.fails.Load() {
		return store.Version{}, errors.New("the disk cannot be read")
	}
	return u.Store.Version(ctx, hash)
}

func TestWhatCannotBeReadIsNotTakenForWhatIsNotThere(t *testing.T) {
	disk := &unreadable{Store: &store.Memory{}}
	c := newClient(t, func(s *Server) { s.Store, s.Engine.Store = disk, disk })
	for _, path := range []string{
		"/api/v1/runs/nope/tasks/a/log", "/runs/nope", "/runs/nope/cancel", "/runs/nope/artifacts/x", "/runs/nope/tasks/a",
		"/api/v1/workflows/flow/source?version=nope",
	} {
		disk.fails.Store(false)
		c.want(http.StatusNotFound, "GET", path, "", nil)
		disk.fails.Store(true)
		c.want(http.StatusInternalServerError, "GET", path, "", nil)
	}
	disk.fails.Store(false)
	c.want(http.StatusBadRequest, "GET", "/api/v1/runs?cursor=nope", "", nil)
	disk.fails.Store(true)
	c.want(http.StatusInternalServerError, "GET", "/api/v1/runs?cursor=nope", "", nil)
	disk.fails.Store(false) // the engine goes on, and stops
}
