package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// In a bubble the pauses of SQLite's busy handler take no time, so what is a
// lock of four seconds there costs nothing here.

// lock holds the write lock of a database until the function that it gives is called.
func lock(t *testing.T, path, how string) (release func()) {
	t.Helper()
	db := raw(t, path)
	if _, err := db.Exec(how); err != nil {
		t.Fatal(err)
	}
	return func() {
		_, err := db.Exec("ROLLBACK")
		if err := errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestALockOfAnotherConnectionIsNothingButADelay(t *testing.T) {
	for _, held := range []time.Duration{time.Millisecond, 4 * time.Second, 10 * time.Minute} {
		t.Run(held.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "ax.db")
				s := open(t, path, sqlite.Options{})
				create(t, s, "r0")
				release := lock(t, path, "BEGIN IMMEDIATE")
				committed := make(chan error, 1)
				go func() { committed <- s.Commit(context.Background(), small("r1")) }()
				time.Sleep(held)
				select {
				case err := <-committed:
					t.Fatalf("commit came back while the database was locked: %v", err)
				default:
				}
				if runs, err := s.Unfinished(context.Background(), "", store.MaxLimit); err != nil || len(runs) != 1 {
					t.Errorf("a read beside the lock gave %d runs and the error %v", len(runs), err)
				}
				release()
				start := time.Now()
				if err := <-committed; err != nil {
					t.Error(err)
				}
				if waited := time.Since(start); waited > 200*time.Millisecond {
					t.Errorf("commit took %v after the lock was gone", waited)
				}
			})
		})
	}
}

func TestACommitThatWaitsForALockEndsWithItsContextAndWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ax.db")
		s := open(t, path, sqlite.Options{})
		release := lock(t, path, "BEGIN IMMEDIATE")
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if err := s.Commit(ctx, small("r1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("commit gave the error %v, expected %v", err, context.DeadlineExceeded)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("commit took %v, expected 3s", took)
		}
		release()
		create(t, s, "r2")
		if runs, err := s.Unfinished(context.Background(), "", store.MaxLimit); err != nil || len(runs) != 1 {
			t.Errorf("%d runs and the error %v, expected the second alone", len(runs), err)
		}
	})
}

func TestBatchesThatWaitTogetherGetTheirOwnAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ax.db")
		s := open(t, path, sqlite.Options{})
		create(t, s, "taken")
		release := lock(t, path, "BEGIN IMMEDIATE")
		type answer struct {
			id  string
			err error
		}
		answers := make(chan answer)
		for i := range 40 {
			id, b := fmt.Sprint("r", i), small(fmt.Sprint("r", i))
			if i%4 == 3 {
				id = "taken"
				b.Create = append(b.Create, store.Run{ID: id})
			}
			go func() { answers <- answer{id, s.Commit(context.Background(), b)} }()
		}
		time.Sleep(4 * time.Second)
		release()
		for range 40 {
			a := <-answers
			var want error
			if a.id == "taken" {
				want = store.ErrConflict
			}
			if !errors.Is(a.err, want) {
				t.Errorf("run %s: commit gave the error %v, expected %v", a.id, a.err, want)
			}
		}
		if runs, err := s.Unfinished(context.Background(), "", store.MaxLimit); err != nil || len(runs) != 31 {
			t.Errorf("%d runs and the error %v, expected 31", len(runs), err)
		}
	})
}

func TestOpenDoesNotWaitForALockOnAnExistingDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ax.db")
		open(t, path, sqlite.Options{})
		release := lock(t, path, "BEGIN IMMEDIATE")
		defer release()
		start := time.Now()
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("open took %v", took)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenWaitsAsLongAsItMayForADatabaseThatAnotherProcessMakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ax.db")
		release := lock(t, path, "BEGIN IMMEDIATE; CREATE TABLE t (a)")
		start := time.Now()
		if _, err := sqlite.Open(path, sqlite.Options{BusyTimeout: 2 * time.Second}); err == nil {
			t.Error("open gave no error")
		}
		if took := time.Since(start); took < 2*time.Second || took > 10*time.Second {
			t.Errorf("open took %v, expected about 2s", took)
		}
		opened := make(chan error, 1)
		go func() {
			s, err := sqlite.Open(path, sqlite.Options{})
			if err == nil {
				err = s.Close()
			}
			opened <- err
		}()
		time.Sleep(time.Second)
		release()
		if err := <-opened; err != nil {
			t.Error(err)
		}
	})
}

func TestReadsWaitForADatabaseThatIsLockedAltogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ax.db")
		used(t, path)
		// one connection in exclusive mode keeps all others out
		release := lock(t, path, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM ticks")
		opened := make(chan error, 1)
		go func() {
			s, err := sqlite.OpenReader(path)
			if err == nil {
				_, err = s.Run(context.Background(), "r0")
				err = errors.Join(err, s.Close())
			}
			opened <- err
		}()
		time.Sleep(2 * time.Second)
		release()
		if err := <-opened; err != nil {
			t.Error(err)
		}
	})
}

func TestCloseDoesNotWaitForALockForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ax.db")
		s := open(t, path, sqlite.Options{BusyTimeout: time.Second})
		release := lock(t, path, "BEGIN IMMEDIATE")
		committed := make(chan error, 1)
		go func() { committed <- s.Commit(context.Background(), small("r1")) }()
		synctest.Wait()
		start := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("close took %v", took)
		}
		if err := <-committed; err == nil {
			t.Error("the batch was written though the database was locked")
		}
		release()
	})
}
