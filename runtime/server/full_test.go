package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ax-scheduler/ax/store"
)

// fillable is a store whose disk can be full.
type fillable struct {
	store.Store
	full atomic.Bool
}

func (f *fillable) Commit(ctx context.Context, b *store.Batch) error {
	if f.full.Load() {
		return fmt.Errorf("write: %w; free some space", store.ErrFull)
	}
	return f.Store.Commit(ctx, b)
}

func TestARequestThatFindsTheDiskFullIsToldSoAndCanBeSentAgain(t *testing.T) {
	disk := &fillable{Store: &store.Memory{}}
	c := newClient(t, func(s *Server) { s.Store, s.Engine.Store = disk, disk })
	const starts = "/api/v1/workflows/flow/runs"

	disk.full.Store(true)
	var told struct{ Detail string }
	c.want(http.StatusServiceUnavailable, "POST", starts, "{}", &told)
	if !strings.Contains(told.Detail, store.ErrFull.Error()+"; free some space") {
		t.Errorf("with a full disk the answer says %q", told.Detail)
	}

	disk.full.Store(false)
	c.want(http.StatusCreated, "POST", starts, "{}", nil)
}
