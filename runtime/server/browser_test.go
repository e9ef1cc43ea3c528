package server

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// tab is a page of a browser in which nothing may go wrong.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	expected []string // parts of errors that are meant to come
	errors   []string
}

// expect tells of an error that is meant to come, by a part of its text.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

// unexpected gives the errors that were not meant to come.
func (b *tab) unexpected() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(b.errors, func(e string) bool {
		return slices.ContainsFunc(b.expected, func(part string) bool { return strings.Contains(e, part) })
	})
}

// newTab opens a browser. Errors on its console, among them violations of the
// policy of a page, fail the test.
func newTab(t *testing.T) *tab {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no chromium is installed: the pages are not tested in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // chromium has none for root
	}
	limited, release := context.WithTimeout(context.Background(), 2*time.Minute)
	allocator, stop := chromedp.NewExecAllocator(limited, options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	console := chromedp.Console(ctx)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for m, err := range console {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" || m.Source == "security" {
				b.mu.Lock()
				b.errors = append(b.errors, m.Text+" "+m.URL)
				b.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // the browser ends, however
		closeTab()
		<-read
		for _, e := range b.unexpected() {
			t.Errorf("the browser reports: %s", e)
		}
		stop()
		release()
	})
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, action := range actions {
		err := chromedp.Do(b.ctx, action)
		for replaced(err) {
			err = chromedp.Do(b.ctx, action)
		}
		if err != nil {
			b.t.Fatalf("%v\n%s", err, b.shown())
		}
	}
}

// replaced tells whether an action failed before it did anything because its
// element had just been replaced by a newer one, as happens on a page that is
// live. Whoever clicks with a hand does not notice.
func replaced(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Could not find node with given id")
}

// shown gives the text of the page, for a message.
func (b *tab) shown() string {
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText.slice(0, 2000)"))
	return text
}

// value evaluates an expression of the page.
func (b *tab) value(js string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+js+")"))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", js, err, b.shown())
	}
	return v
}

// until waits for an expression of the page to be true; while another page is
// being loaded it may fail.
func (b *tab) until(js string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	for {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+js+")")); err == nil && ok {
			return
		}
		select {
		case <-time.After(30 * time.Millisecond):
		case <-ctx.Done():
			b.t.Fatalf("%s is not true\n%s", js, b.shown())
		}
	}
}

// TestPicturesOfThePages writes pictures of a served ax for those who look at
// them: AX_PICTURES names the folder and AX_PICTURES_OF the address.
func TestPicturesOfThePages(t *testing.T) {
	dir, base := os.Getenv("AX_PICTURES"), os.Getenv("AX_PICTURES_OF")
	if dir == "" {
		t.Skip("AX_PICTURES names no folder")
	}
	b := newTab(t)
	for _, place := range strings.Fields(os.Getenv("AX_PICTURES_PAGES")) {
		name, path, _ := strings.Cut(place, "=")
		for _, size := range []struct {
			name string
			w, h int64
		}{{"wide", 1280, 860}, {"narrow", 360, 780}} {
			for _, scheme := range []string{"light", "dark"} {
				_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})
				if err != nil {
					t.Fatal(err)
				}
				b.do(chromedp.EmulateViewport(size.w, size.h), chromedp.Navigate(base+path))
				b.until("document.readyState === 'complete'")
				b.value("(document.querySelectorAll('details').forEach((d) => d.open = true), window.scrollTo(0, 0))")
				picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name+"-"+size.name+"-"+scheme+".png"), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
