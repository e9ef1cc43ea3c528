package executor

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// logMode: a log may hold anything, so it is the user's own.
const logMode = 0o600

// mostInPipe is the most that a pipe holds for an ordinary user, in bytes.
const mostInPipe = 1 << 20

// sink is where the output of a process goes: the log file itself, or a pipe whose other end is copied through the
// filter. Its memory does not grow with the output.
type sink struct {
	path  string
	from  int64       // where this attempt's part of the log begins
	child *os.File    // what the process gets; closed here once it has it
	info  os.FileInfo // of child: who holds it open wrote for this attempt

	// Only with a filter:
	log      *os.File
	filtered io.WriteCloser
	pipe     *os.File
	copied   chan struct{} // closed when the copying is over; err may be read then; nil if it never began
	err      error
}

func openLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, logMode)
}

func openSink(a *Attempt) (*sink, error) {
	log, err := openLog(a.Log)
	if err != nil {
		return nil, err
	}
	info, err := log.Stat()
	if err != nil {
		log.Close()
		return nil, err
	}
	s := &sink{path: a.Log, from: info.Size(), child: log, info: info}
	if a.Filter == nil {
		return s, nil
	}
	s.log = log
	if s.pipe, s.child, err = os.Pipe(); err == nil {
		s.info, err = s.child.Stat()
	}
	if err != nil {
		s.pipe.Close()
		s.child.Close()
		log.Close()
		return nil, err
	}
	s.filtered = a.Filter(log)
	return s, nil
}

// childStarted gives up what belongs to the process now and begins to copy.
func (s *sink) childStarted() {
	s.child.Close()
	if s.pipe != nil {
		s.copied = make(chan struct{})
		go s.copy()
	}
}

// finish takes what is still in the pipe and closes everything. It waits for no process: one that holds the pipe open
// now is none of this attempt's, or could not be killed.
func (s *sink) finish() error {
	if s.pipe == nil {
		s.child.Close() // twice if the process was started
		return nil
	}
	if s.copied == nil {
		s.child.Close()
	} else {
		_ = s.pipe.SetReadDeadline(time.Now())
		<-s.copied
	}
	s.keep(s.filtered.Close())
	s.keep(s.log.Close())
	s.pipe.Close()
	return s.err
}

func (s *sink) copy() {
	defer close(s.copied)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.pipe.Read(buf)
		s.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.drain(buf)
			return
		}
		if err != nil {
			return
		}
	}
}

// drain copies what is in the pipe without waiting for more: an expired deadline alone would lose it.
func (s *sink) drain(buf []byte) {
	_ = s.pipe.SetReadDeadline(time.Time{})
	conn, err := s.pipe.SyscallConn()
	if err != nil {
		s.keep(err)
		return
	}
	_ = conn.Read(func(fd uintptr) bool {
		for rest := mostInPipe; rest > 0; {
			n, err := unix.Read(int(fd), buf)
			if err == unix.EINTR {
				continue
			}
			if n <= 0 {
				break
			}
			s.write(buf[:n])
			rest -= n
		}
		return true
	})
}

// write goes on after an error, without writing: a task is not to stand still because its log is full.
func (s *sink) write(p []byte) {
	if s.err == nil && len(p) > 0 {
		_, err := s.filtered.Write(p)
		s.keep(err)
	}
}

func (s *sink) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *sink) lastLine() string { return lastLine(s.path, s.from) }
