package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// serving is an `ax serve` that is measured.
type serving struct {
	cmd  *exec.Cmd
	base string // address
}

// serve starts an ax on a folder that has its workflows, and waits until it is ready.
func (b *bench) serve(dir string, flags ...string) (*serving, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "serve.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &serving{base: "http://" + addr}
	s.cmd = exec.Command(b.ax, append([]string{"serve", "--addr", addr, "--on-stop", "drain", "--log-level", "warn"}, flags...)...)
	s.cmd.Dir, s.cmd.Stderr = dir, log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 3000 {
		if _, err := s.get("/readyz", nil); err == nil {
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	return nil, errors.Join(fmt.Errorf("ax serve does not get ready: %s", text), s.stop())
}

func (s *serving) stop() error {
	return errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
}

func (s *serving) get(path string, into any) (int, error) {
	res, err := http.Get(s.base + path)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, fmt.Errorf("%s answered %s", path, res.Status)
	}
	if into == nil {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.NewDecoder(res.Body).Decode(into)
}

// use is what a process has used since its start, and what it has now.
type use struct {
	cpu      time.Duration
	switches float64 // times that one of its threads went to sleep
	memory   float64 // MB in all
	own      float64 // MB of that which are not pages of files, as the binary's
}

func (s *serving) use() (u use, err error) {
	pid := s.cmd.Process.Pid
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	words := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, w := range words[11:13] { // user and system time in ticks of 10 ms
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(n) * 10 * time.Millisecond
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return u, err
	}
	for _, t := range threads {
		n, _ := strconv.ParseFloat(proc(t, "voluntary_ctxt_switches"), 64) // gone: it does not sleep any more
		u.switches += n
	}
	for name, mb := range map[string]*float64{"VmRSS": &u.memory, "RssAnon": &u.own} {
		kb, err := strconv.ParseFloat(strings.TrimSuffix(proc(fmt.Sprintf("/proc/%d/status", pid), name), " kB"), 64)
		if err != nil {
			return u, err
		}
		*mb = kb / 1024
	}
	return u, err
}

// rest lets a server come to rest and tells what it uses in a while: CPU in
// percent of one core, and how often a second a thread goes to sleep.
func (s *serving) rest(settle, while time.Duration) (u use, percent, wakeups float64, err error) {
	time.Sleep(settle)
	before, err := s.use()
	if err != nil {
		return u, 0, 0, err
	}
	time.Sleep(while)
	after, err := s.use()
	return after, 100 * (after.cpu - before.cpu).Seconds() / while.Seconds(), (after.switches - before.switches) / while.Seconds(), err
}

// yearly gives the text of a workflow that has nothing to do today.
func yearly(i int) string {
	var w strings.Builder
	fmt.Fprintf(&w, "name: flow-%d\ncron: \"0 4 1 1 *\"\ntimezone: UTC\ntasks:\n", i)
	for t := range 20 {
		fmt.Fprintf(&w, "  t%d:\n    run: ./step.sh %d\n    timeout: 10m\n", t, t)
		if t > 0 {
			fmt.Fprintf(&w, "    depends_on: t%d\n", t-1)
		}
	}
	return w.String()
}

// withFiles makes a folder with n workflow files.
func (b *bench) withFiles(n int) string {
	dir := b.folder()
	if err := os.Mkdir(filepath.Join(dir, "workflows"), 0o700); err != nil {
		panic(err)
	}
	for i := range n {
		mustWrite(filepath.Join(dir, "workflows", fmt.Sprintf("flow-%d.yaml", i)), yearly(i))
	}
	return dir
}

// idle measures an ax serve that has nothing to do.
func (b *bench) idle() ([]figure, error) {
	memory := figure{what: "memory of an idle `ax serve`, by workflow files of 20 tasks", unit: "MB", atMost: 40, goalAt: 1000}
	own := figure{what: "of that its own, without the pages of the binary", unit: "MB"}
	cpu := figure{what: "CPU of it", unit: "% of a core"}
	wakeups := figure{what: "how often a second a thread of it wakes up", unit: ""}
	for _, n := range []int{10, 100, 1000} {
		s, err := b.serve(b.withFiles(n))
		if err != nil {
			return nil, err
		}
		u, percent, wakes, err := s.rest(5*time.Second, 20*time.Second)
		if err := errors.Join(err, s.stop()); err != nil {
			return nil, err
		}
		size := float64(n)
		memory.at = append(memory.at, point{size, u.memory})
		own.at = append(own.at, point{size, u.own})
		cpu.at = append(cpu.at, point{size, percent})
		wakeups.at = append(wakeups.at, point{size, wakes})
	}
	return []figure{memory, own, cpu, wakeups}, nil
}

// reload measures the time from an edit to the new version, less the delay that
// lets an editor finish.
func (b *bench) reload() ([]figure, error) {
	const delay = 200 * time.Millisecond
	f := figure{what: "an edited file is loaded, after the delay, by files in the folder", unit: "ms", atMost: 100}
	for _, n := range []int{100, 1000, 10_000} {
		dir := b.withFiles(n)
		s, err := b.serve(dir, "--reload-delay", delay.String())
		if err != nil {
			return nil, err
		}
		time.Sleep(2 * time.Second)
		var took []float64
		for i := range b.rounds {
			d, err := s.edit(filepath.Join(dir, "workflows", "flow-7.yaml"), "flow-7", i)
			if err != nil {
				return nil, errors.Join(err, s.stop())
			}
			took = append(took, ms(d-delay))
			time.Sleep(time.Second)
		}
		if err := s.stop(); err != nil {
			return nil, err
		}
		f.at = append(f.at, point{float64(n), median(took)})
	}
	return []figure{f}, nil
}

// edit changes a file and waits for the server to have it.
func (s *serving) edit(file, name string, i int) (time.Duration, error) {
	version := func() (string, error) {
		var w struct{ Version string }
		_, err := s.get("/api/v1/workflows/"+name, &w)
		return w.Version, err
	}
	old, err := version()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	mustWrite(file, yearly(7)+fmt.Sprintf("# edit %d\n", i))
	for time.Since(begin) < 10*time.Second {
		if now, err := version(); err != nil || now != old {
			return time.Since(begin), err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return 0, fmt.Errorf("%s was not loaded again", file)
}

// waiting measures runs that are asked for a year ahead.
func (b *bench) waiting() ([]figure, error) {
	memory := figure{what: "memory of `ax serve`, by delayed runs that wait", unit: "MB", atMost: 100}
	cpu := figure{what: "CPU of it", unit: "% of a core", atMost: 1}
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		dir := b.withFiles(1)
		due := time.Now().AddDate(1, 0, 0)
		if err := seed(dir, yearly(0), slices.Repeat([]time.Time{due}, n)); err != nil {
			return nil, err
		}
		s, err := b.serve(dir)
		if err != nil {
			return nil, err
		}
		u, percent, _, err := s.rest(5*time.Second, 35*time.Second) // it looks into the store twice a minute
		if err := errors.Join(err, s.stop()); err != nil {
			return nil, err
		}
		memory.at = append(memory.at, point{float64(n), u.memory})
		cpu.at = append(cpu.at, point{float64(n), percent})
	}
	return []figure{memory, cpu}, nil
}

// triggers measures how late runs begin that come in a steady stream.
func (b *bench) triggers() ([]figure, error) {
	const seconds = 10
	f := figure{what: "how late 99 % of delayed runs begin, by runs a second", unit: "ms", atMost: 50}
	for _, rate := range []int{100, 300, 1000} {
		dir := b.folder()
		if err := os.Mkdir(filepath.Join(dir, "workflows"), 0o700); err != nil {
			return nil, err
		}
		text := "name: flow\nmax_active: 0\ntasks:\n  nothing: {run: \"true\", disabled: true}\n"
		mustWrite(filepath.Join(dir, "workflows", "flow.yaml"), text)
		first := time.Now().Add(6 * time.Second)
		var dues []time.Time
		for i := range rate * seconds {
			dues = append(dues, first.Add(time.Duration(i)*time.Second/time.Duration(rate)))
		}
		if err := seed(dir, text, dues); err != nil {
			return nil, err
		}
		s, err := b.serve(dir)
		if err != nil {
			return nil, err
		}
		time.Sleep(time.Until(dues[len(dues)-1].Add(3 * time.Second)))
		late, err := lateness(context.Background(), dir, len(dues))
		if err := errors.Join(err, s.stop()); err != nil {
			return nil, err
		}
		f.at = append(f.at, point{float64(rate), late[len(late)*99/100]})
	}
	return []figure{f}, nil
}
