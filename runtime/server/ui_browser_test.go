package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ax-scheduler/ax/runtime/reload"
)

// load is a workflow whose task waits for a file, says what it does meanwhile,
// and fails until another file is there.
const loadFlow = `
name: load
description: Loads <b>orders</b> & "more".
params:
  region: {type: string, default: emea, choices: [emea, apac]}
  rows: {type: int, default: 3, min: 1}
tasks:
  first: {run: 'echo begun'}
  load:
    depends_on: first
    run: |
      for i in $(seq 1 "$AX_PARAM_ROWS"); do echo "row $i of $AX_PARAM_REGION"; done
      until test -e "$DIR/go"; do sleep 0.05; done
      printf '\033[31mlast\033[0m <script>alert(1)</script>\n'
      test -e "$DIR/good"
  publish: {depends_on: load, run: 'echo "published=yes" >> "$AX_OUTPUT"'}
`

// flows serves some workflows instead of the usual one.
func flows(t *testing.T, texts ...string) func(*Server) {
	c := &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
	for _, text := range texts {
		f := reload.Check("flow.yaml", []byte(text))
		if f.Plan == nil {
			t.Fatal(f.Diagnostics)
		}
		c.Workflows[f.Workflow.Name.V] = f.Keep()
	}
	return func(s *Server) { s.Catalog = func() *reload.Catalog { return c } }
}

func TestSomebodyStartsARunSeesItFailAndRetriesItToSuccess(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DIR", dir)
	touch := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, flows(t, loadFlow))
	b := newTab(t) // ends before the server does

	// From the first page to the form, and what is wrong in it is told.
	b.do(chromedp.Navigate(c.base + "/"))
	b.until("document.querySelector('#live').textContent === 'live'")
	b.do(chromedp.Click(chromedp.CSS("a[href='/workflows/load']")))
	b.until("document.querySelector('h1').textContent.startsWith('load')")
	if about := b.value("document.querySelector('.about').textContent"); about != `Loads <b>orders</b> & "more".` {
		t.Errorf("the description is shown as %q", about)
	}
	b.do(chromedp.SetValue(chromedp.CSS("#param-region"), "apac"), chromedp.SetValue(chromedp.CSS("#param-rows"), "600"), chromedp.Click(chromedp.CSS("#start-run")))

	// The graph comes to life without the page being loaded again.
	b.until("location.pathname.startsWith('/runs/')")
	b.value("window.same = true")
	b.until("document.querySelector('.node[data-id=load]').classList.contains('running')")
	if b.value("window.same") != "true" {
		t.Error("the page was loaded again")
	}
	run := b.value("location.pathname")

	// The log is followed as it is written.
	b.do(chromedp.Navigate(c.base + run + "/tasks/load"))
	b.until("document.querySelectorAll('#log li').length === 400")
	b.until("document.querySelector('#L600 .t').textContent === 'row 600 of apac'")
	touch("go")
	b.until("document.querySelector('#L601 .t')?.textContent === 'last <script>alert(1)</script>'")
	if class := b.value("document.querySelector('#L601 span span').className"); class != "f1" {
		t.Errorf("the colour is the class %q", class)
	}
	b.until("document.querySelector('#log-state').textContent.includes('failed')")
	b.do(chromedp.Click(chromedp.CSS("#earlier")))
	b.until("document.querySelectorAll('#log li').length === 601")
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=q]"), "ROW 12 \r"))
	b.until("document.querySelectorAll('.found li').length === 1")
	b.do(chromedp.Click(chromedp.CSS(".found a")))
	b.until("location.hash === '#L12' && document.querySelector('#L12').matches('.at')")

	// What failed, why, and what it blocked comes first; a retry ends well.
	b.do(chromedp.Navigate(c.base + run))
	cause := b.value("document.querySelector('#causes').innerText")
	for _, part := range []string{"load failed", "exit 1", "last <script>alert(1)</script>", "Blocked publish"} {
		if !strings.Contains(cause, part) {
			t.Errorf("the cause lacks %q: %s", part, cause)
		}
	}
	touch("good")
	b.do(chromedp.Click(chromedp.CSS("#retry")))
	b.until("document.querySelector('h1').textContent.includes('succeeded')")
	b.until("document.querySelector('#causes').textContent.trim() === ''")
	b.until("document.querySelector('.node[data-id=publish]').classList.contains('succeeded')")
	b.until("document.querySelector('#results').textContent.includes('publish.published')")
}

func TestAPageStaysAsItIsWhileWhatItShowsGoesOn(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DIR", dir)
	c := newClient(t, flows(t, loadFlow))
	b := newTab(t) // ends before the server does
	id := c.started("load", "{}")
	b.do(chromedp.Navigate(c.base + "/runs/" + id))
	b.until("document.querySelector('.node[data-id=load]').classList.contains('running')")
	b.value("(window.graph = document.querySelector('#graph svg'), document.querySelector('#tasks a').focus())")
	if err := os.WriteFile(filepath.Join(dir, "good"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.until("document.querySelector('h1').textContent.includes('succeeded')")
	b.until("document.querySelector('#tasks').textContent.match(/succeeded/g)?.length === 3")
	for _, js := range []string{
		"window.graph === document.querySelector('#graph svg')",                        // and its place
		"document.activeElement.matches('#tasks a')",                                   // the keyboard's place
		"!document.body.hasAttribute('data-busy')",                                     // it is not asked for any more
		"document.querySelectorAll('#graph .node.succeeded').length === 3",             // all of it
		"[...document.querySelectorAll('script')].every((s) => s.src)",                 // none inline
		"[...document.querySelectorAll('*')].every((e) => !e.hasAttribute('style'))",   // nor a style
		"document.documentElement.scrollWidth <= document.documentElement.clientWidth", // nothing sticks out
	} {
		if b.value(js) != "true" {
			t.Errorf("%s is not true", js)
		}
	}
}

func TestInstancesLieBeneathTheirTask(t *testing.T) {
	c := newClient(t, flows(t, `
name: shops
tasks:
  fetch:
    foreach: [`+strings.TrimSuffix(strings.Repeat("a, ", 130), ", ")+`]
    run: 'echo "shop $AX_ITEM ${{ index }}"; test ${{ index }} != 17'
  total: {depends_on: fetch, run: 'true'}
`))
	b := newTab(t) // ends before the server does
	id := c.started("shops", "{}")
	c.ended(id)
	b.do(chromedp.Navigate(c.base + "/runs/" + id))
	if n := b.value("document.querySelectorAll('#tasks > table > tbody > tr:not(.inner)').length"); n != "2" {
		t.Errorf("a run of two tasks has %s rows", n)
	}
	if b.value("document.querySelector('#tasks details').open") != "false" {
		t.Error("the instances are not collapsed")
	}
	sum := b.value("document.querySelector('#tasks summary').innerText.replace(/\\s+/g, ' ')")
	for _, part := range []string{"130 instances", "succeeded 129", "failed 1"} {
		if !strings.Contains(sum, part) {
			t.Errorf("the instances are summed up as %q, which lacks %q", sum, part)
		}
	}
	if note := b.value("document.querySelector('.node[data-id=fetch]').textContent"); !strings.Contains(note, "✕ 1") || !strings.Contains(note, "✓ 129") {
		t.Errorf("the graph says of the task %q", note)
	}
	if cause := b.value("document.querySelector('#causes').innerText"); !strings.Contains(cause, "fetch[17] failed") || !strings.Contains(cause, "shop a 17") {
		t.Errorf("the cause is %q", cause)
	}

	// The keyboard opens them, the failed one first, and leads to its log and back.
	b.do(chromedp.Focus(chromedp.CSS("#tasks summary")), chromedp.SendKeys(chromedp.CSS("#tasks summary"), "\r"))
	b.until("document.querySelector('#tasks details').open")
	b.until("document.querySelector('#tasks details tr a').textContent === 'fetch[17]'")
	b.do(chromedp.Click(chromedp.CSS("#tasks details tr a")))
	b.until("document.querySelector('#log .t')?.textContent === 'shop a 17'")
	b.do(chromedp.Click(chromedp.CSS(".crumbs a:last-child")))
	b.until("document.querySelectorAll('#tasks tbody tr').length === 100")
	b.do(chromedp.Click(chromedp.CSS("#tasks .pager a")))
	b.until("document.querySelectorAll('#tasks tbody tr').length === 30")

	// The grid leads there too, and so does the address of a log that there is not.
	for _, path := range []string{"/workflows/shops", "/runs/" + id + "/tasks/fetch"} {
		b.do(chromedp.Navigate(c.base + path))
		if strings.HasPrefix(path, "/workflows") {
			b.do(chromedp.Click(chromedp.CSS(".grid a.c.failed")))
		}
		b.until("location.search === '?of=fetch' && document.querySelectorAll('#tasks tbody tr').length === 100")
	}
}

func TestARunIsCancelledOnlyAfterAQuestion(t *testing.T) {
	t.Setenv("DIR", t.TempDir())
	c := newClient(t, flows(t, loadFlow))
	b := newTab(t) // ends before the server does
	id := c.started("load", "{}")
	b.do(chromedp.Navigate(c.base + "/runs/" + id))
	b.until("document.querySelector('.node[data-id=load]').classList.contains('running')")
	b.do(chromedp.Click(chromedp.CSS("#cancel")))
	b.until("document.querySelector('#ask-cancel').open && document.querySelector('#ask-cancel').contains(document.activeElement)")
	b.do(chromedp.Click(chromedp.CSS("#ask-cancel [data-close]")))
	b.until("!document.querySelector('#ask-cancel').open && document.activeElement.id === 'cancel'")

	// Without a script a page asks the same.
	b.do(chromedp.Navigate(c.base + "/runs/" + id + "/cancel"))
	b.do(chromedp.Click(chromedp.CSS("[data-close]")))
	b.until("location.pathname === '/runs/" + id + "' && document.querySelector('h1').textContent.includes('running')")
	b.do(chromedp.Click(chromedp.CSS("#cancel")), chromedp.Click(chromedp.CSS("#ask-cancel #cancel-run")))
	b.until("document.querySelector('h1').textContent.includes('cancelled')")
	b.do(chromedp.Navigate(c.base + "/runs/" + id + "/cancel"))
	b.until("location.pathname === '/runs/" + id + "'") // there is nothing to ask any more
}

func TestSomebodyPausesSchedulesAndResumesThem(t *testing.T) {
	c := newClient(t, flows(t, "name: timed\nevery: 1h\ntasks:\n  a: {run: 'true'}\n", "name: untimed\ntasks:\n  a: {run: 'true'}\n"))
	b := newTab(t) // ends before the server does
	b.do(chromedp.Navigate(c.base + "/workflows/timed"))
	b.until("document.querySelector('#live').textContent === 'live'")
	b.do(chromedp.Click(chromedp.CSS("#pause")))
	b.until("document.querySelector('h1').textContent.includes('paused') && document.querySelector('#resume')")
	b.until("document.querySelector('#coming').textContent.includes('by loopback')")
	b.do(chromedp.Navigate(c.base + "/"))
	b.until("document.querySelector('#flows .tag').textContent === 'paused'")

	// Another page learns of it without being loaded again.
	b.do(chromedp.Navigate(c.base + "/workflows/timed"))
	b.until("document.querySelector('#live').textContent === 'live'")
	b.value("window.same = true")
	c.want(200, "POST", "/api/v1/workflows/timed/resume", "{}", nil)
	b.until("document.querySelector('#pause') && !document.querySelector('h1').textContent.includes('paused')")
	if b.value("window.same") != "true" {
		t.Error("the page was loaded again")
	}
	b.do(chromedp.Click(chromedp.CSS("#pause")))
	b.until("document.querySelector('#resume')")
	b.do(chromedp.Click(chromedp.CSS("#resume")))
	b.until("document.querySelector('#pause')")
	b.do(chromedp.Navigate(c.base + "/workflows/untimed"))
	if b.value("document.querySelector('#pause') === null") != "true" {
		t.Error("a workflow that nothing starts can be paused")
	}
}

func TestPagesFitAPhoneAndAreReachedByKeyboard(t *testing.T) {
	c := newClient(t)
	b := newTab(t) // ends before the server does
	id := c.started("flow", `{"params": {"who": "fail"}}`)
	c.ended(id)
	b.do(chromedp.EmulateViewport(360, 700))
	for _, path := range []string{"/", "/runs", "/runs/" + id, "/workflows/flow", "/runs/" + id + "/tasks/a", "/diagnostics", "/nowhere"} {
		b.do(chromedp.Navigate(c.base + path))
		if path == "/nowhere" {
			b.expect("Failed to load resource")
		}
		if over := b.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"); over != "0" {
			t.Errorf("%s is %s pixels too wide for a phone", path, over)
		}
		for _, js := range []string{
			"[...document.querySelectorAll('a, button, input, select, summary')].every((e) => e.tabIndex >= 0)",
			"[...document.querySelectorAll('input:not([type=hidden]), select')].every((e) => e.labels.length || e.ariaLabel)",
			"[...document.querySelectorAll('a, button')].every((e) => e.textContent.trim() || e.ariaLabel)",
			"document.querySelectorAll('h1, h2').length > 0 && document.querySelector('main') && document.title.endsWith('ax')",
		} {
			if b.value(js) != "true" {
				t.Errorf("%s: %s is not true", path, js)
			}
		}
	}
}

func TestWhereTokensAreSetABrowserSignsIn(t *testing.T) {
	c := newClient(t, func(s *Server) { s.Tokens = []Token{NewToken(Reader, "look"), NewToken(Operator, "act")} })
	b := newTab(t) // ends before the server does
	signIn := func(token string) {
		b.do(chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"))
	}
	b.do(chromedp.Navigate(c.base + "/workflows/flow"))
	b.until("location.pathname === '/login'")
	b.expect("401")
	signIn("wrong")
	b.until("document.querySelector('#bad')")
	signIn("look")
	b.until("location.pathname === '/workflows/flow'")
	if b.value("document.querySelector('#start') === null") != "true" {
		t.Error("somebody who may only read is shown a form")
	}
	if b.value("document.cookie") != "" {
		t.Error("a script can read the cookies")
	}
	b.until("document.querySelector('#live').textContent === 'live'") // events come by the cookie
	b.do(chromedp.Click(chromedp.CSS("form[action='/logout'] button")))
	b.until("location.pathname === '/login'")
	signIn("act")
	b.until("location.pathname === '/'")
	b.do(chromedp.Navigate(c.base + "/workflows/flow"))
	b.do(chromedp.Click(chromedp.CSS("#start-run")))
	b.until("document.querySelector('h1').textContent.includes('succeeded')")

	// A link from elsewhere leads to the page, though the browser says at first nothing of who has signed in.
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<link rel="icon" href="data:,"><a id="link" href="%s/runs?state=failed">it failed</a>`, c.base)
	}))
	defer elsewhere.Close()
	b.do(chromedp.Navigate(strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)))
	b.do(chromedp.Click(chromedp.CSS("#link")))
	b.until("location.pathname === '/runs' && location.search === '?state=failed'")
}
