package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// least is the least that a runner in Go can do which keeps the promise of ax: n
// processes of `true`, so many at a time, each with a log file of its own, and
// after each a write that the disk confirms. Nothing is read, decided or shown,
// and what is written is one block. What it takes is the machine's, the kernel's
// and Go's; what ax takes more is ax's.
func least(dir string, n, workers int) error {
	const block, room = 8192, 16 << 20
	program, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	journal, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	defer journal.Close()
	if _, err := journal.Write(make([]byte, room)); err != nil {
		return err
	}
	var mu sync.Mutex // one writes, as in every database
	written := int64(0)
	one := func(i int) error {
		log, err := os.Create(filepath.Join(dir, strconv.Itoa(i)+".log"))
		if err != nil {
			return err
		}
		defer log.Close()
		p, err := os.StartProcess(program, []string{"true"}, &os.ProcAttr{Files: []*os.File{nil, log, log}})
		if err != nil {
			return err
		}
		if _, err := p.Wait(); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if _, err := journal.WriteAt(make([]byte, block), written%room); err != nil {
			return err
		}
		written += block
		return journal.Sync()
	}
	next, errs := make(chan int), make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for i := range next {
				if err == nil {
					err = one(i)
				}
			}
			errs <- err
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range workers {
		if e := <-errs; e != nil {
			err = e
		}
	}
	return err
}

// leastBy does the least as the command line says.
func leastBy(dir string, args []string) error {
	var n, workers int
	if _, err := fmt.Sscan(strings.Join(args, " "), &n, &workers); err != nil {
		return fmt.Errorf("-least: after the folder come the number of tasks and how many go at a time: %w", err)
	}
	return least(dir, n, workers)
}

// leastOf gives the command that does the least for n tasks, each time in a new
// folder: this program itself.
func (b *bench) leastOf(n, workers int) func() *exec.Cmd {
	return func() *exec.Cmd {
		return exec.Command("/proc/self/exe", "-least", b.folder(), fmt.Sprint(n), fmt.Sprint(workers))
	}
}
