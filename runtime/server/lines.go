package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
)

const (
	indexStep   = 1 << 20   // bytes between two marks of an index
	indexKept   = 128       // logs whose indexes are kept
	lineMost    = 4 << 10   // bytes of a line that are shown
	windowMost  = 96 << 10  // bytes of a window of lines
	searchMost  = 256 << 20 // bytes that one search looks at
	searchFinds = 100
)

// lineIndex knows how many lines end within the first i MiB of a log, so that a
// line of a large one is found without reading it all again.
type lineIndex struct {
	mu    sync.Mutex
	marks []int // marks[0] is 0
}

// lineIndexes are those of the logs that were looked at last.
type lineIndexes struct {
	mu  sync.Mutex
	all map[string]*lineIndex
}

func (x *lineIndexes) of(path string) *lineIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := x.all[path]; i != nil {
		return i
	}
	if x.all == nil || len(x.all) >= indexKept {
		x.all = map[string]*lineIndex{}
	}
	i := &lineIndex{marks: []int{0}}
	x.all[path] = i
	return i
}

// logLines is a log with its index.
type logLines struct {
	f     *os.File
	size  int64
	marks []int
	total int // lines, the last one whether it has an end or not
}

// openLines counts the lines of a log. Only what was written since the last time
// is read.
func (x *lineIndexes) openLines(path string) (*logLines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &logLines{f: f, size: sizeOf(f)}
	i := x.of(path)
	i.mu.Lock()
	defer i.mu.Unlock()
	if int64(len(i.marks)-1)*indexStep > l.size {
		i.marks = []int{0} // it is another file
	}
	buf := make([]byte, indexStep)
	for {
		at := int64(len(i.marks)-1) * indexStep
		n, err := f.ReadAt(buf[:min(indexStep, l.size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			_ = f.Close()
			return nil, err
		}
		count := i.marks[len(i.marks)-1] + bytes.Count(buf[:n], []byte{'\n'})
		if n == indexStep {
			i.marks = append(i.marks, count)
			continue
		}
		l.marks, l.total = i.marks[:len(i.marks):len(i.marks)], count
		if l.size > 0 && !l.endsLine() {
			l.total++
		}
		return l, nil
	}
}

func (l *logLines) endsLine() bool {
	var last [1]byte
	_, err := l.f.ReadAt(last[:], l.size-1)
	return err == nil && last[0] == '\n'
}

// line gives a reader that stands at the beginning of a line, counted from 1.
func (l *logLines) line(number int) *bufio.Reader {
	mark := 0 // a later one stands within a line: it must be one before
	for mark+1 < len(l.marks) && l.marks[mark+1] < number-1 {
		mark++
	}
	at := int64(mark) * indexStep
	r := bufio.NewReaderSize(io.NewSectionReader(l.f, at, l.size-at), 64<<10)
	for skip := number - 1 - l.marks[mark]; skip > 0; {
		_, err := r.ReadSlice('\n')
		if err == nil {
			skip--
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	return r
}

// logLine is one line of a window.
type logLine struct {
	Number int
	Text   []byte
	Cut    bool // there is more of it
}

// nextLine reads a line; false where there is none.
func nextLine(r *bufio.Reader) (line []byte, cut, ok bool) {
	for {
		part, err := r.ReadSlice('\n')
		ok = ok || len(part) > 0
		part = bytes.TrimSuffix(part, []byte{'\n'})
		if room := lineMost - len(line); len(part) > room {
			part, cut = part[:room], true
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, cut, ok
		}
	}
}

// window gives lines from a number on, as many as wanted or fit.
func (l *logLines) window(first, count int) []logLine {
	first = min(max(first, 1), l.total+1)
	r, size := l.line(first), 0
	var all []logLine
	for n := first; n <= l.total && len(all) < count && size < windowMost; n++ {
		line, cut, ok := nextLine(r)
		if !ok {
			break
		}
		size += len(line) + 64
		all = append(all, logLine{n, line, cut})
	}
	return all
}

// last gives the last lines, as many as wanted and fit.
func (l *logLines) last(count int) []logLine {
	first, size := max(1, l.total-count+1), 0
	r := l.line(first)
	var all []logLine
	for n := first; n <= l.total; n++ {
		line, cut, ok := nextLine(r)
		if !ok {
			break
		}
		all = append(all, logLine{n, line, cut})
		for size += len(line) + 64; size > windowMost && len(all) > 1; all = all[1:] {
			size -= len(all[0].Text) + 64
		}
	}
	return all
}

// search finds lines with a text, whatever its case, from a line on. next is the
// line to go on at; 0 where the end was reached.
func (l *logLines) search(ctx context.Context, text string, from int) (found []logLine, next int) {
	text = strings.ToLower(text)
	r, read := l.line(max(from, 1)), 0
	for n := max(from, 1); n <= l.total; n++ {
		if len(found) == searchFinds || read > searchMost || n%4096 == 0 && ctx.Err() != nil {
			return found, n
		}
		line, cut, ok := nextLine(r)
		if !ok {
			break
		}
		read += len(line) + 1
		if bytes.IndexByte(line, 0x1b) >= 0 {
			line = []byte(plain(line))
		}
		if bytes.Contains(bytes.ToLower(line), []byte(text)) {
			found = append(found, logLine{n, line, cut})
		}
	}
	return found, 0
}
