package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// HTTP is one request.
type HTTP struct {
	Method  string // empty for GET, or POST with a body
	URL     string
	Headers []Header
	Body    string
	Expect  []int  // status codes that succeed; empty for 200 to 299
	Save    string // absolute path for the body of an answer that succeeds; empty for none
}

// Header is one header field of a request.
type Header struct{ Name, Value string }

const (
	// shownBody is how much of a body goes to the log, in bytes.
	shownBody = 64 << 10
	// spareBody is read beyond what is kept of a body, so that a secret at its end is whole when it is masked.
	spareBody = 64 << 10
	// keptBody leaves room in the outputs for the status and the names.
	keptBody = outputLimit - 64
)

func (h HTTP) carryOut(ctx context.Context, _ *Executor, a *Attempt, o *Outcome) {
	a.inProcess(ctx, o, func(log io.Writer) error {
		client := newClient(a.Env)
		defer client.CloseIdleConnections()
		r, err := h.send(ctx, client, a)
		if err != nil {
			return err
		}
		say(log, "%s", r.line)
		r.show(log)
		if !h.expects(r.status) {
			o.LastLine = firstLine(r.body)
			return errors.New(r.line)
		}
		r.keep(o)
		return nil
	})
}

// answer is what came back.
type answer struct {
	line   string // "GET https://… gave 200 OK"
	status int
	body   string // its beginning, masked; empty where it is no text
	size   int64  // bytes that were read
	whole  bool   // all of it was read
	kind   string // its media type
	text   bool
}

// send makes the request and reads the answer. The file is saved where the status is one that is expected.
func (h *HTTP) send(ctx context.Context, client *http.Client, a *Attempt) (*answer, error) {
	req, err := h.request(ctx, a.Env)
	if err != nil {
		return nil, err
	}
	client.CheckRedirect = h.redirect
	res, err := client.Do(req)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Redacted(), err)
	}
	defer res.Body.Close()
	r := &answer{status: res.StatusCode, kind: res.Header.Get("Content-Type")}
	r.line = fmt.Sprintf("%s %s gave %s", req.Method, req.URL.Redacted(), statusText(res))
	var file *savedFile
	if h.Save != "" && h.expects(r.status) {
		if file, err = a.newSavedFile(h.Save); err != nil {
			return nil, err
		}
		defer file.drop()
	}
	if err := r.read(res.Body, file); err != nil {
		return nil, fmt.Errorf("%s, but its body broke off after %d bytes: %w", r.line, r.size, err)
	}
	r.body = a.masked(r.body) // before any of it is cut
	if file != nil {
		return r, file.put()
	}
	return r, nil
}

func statusText(res *http.Response) string {
	if text := http.StatusText(res.StatusCode); text != "" {
		return strconv.Itoa(res.StatusCode) + " " + text
	}
	return strconv.Itoa(res.StatusCode)
}

// read takes the body: all of it into the file, without one no more than can be kept.
func (r *answer) read(body io.Reader, file *savedFile) error {
	var kept bytes.Buffer
	n, err := io.Copy(&kept, io.LimitReader(body, keptBody+spareBody))
	r.size, r.whole = n, n < keptBody+spareBody
	text := kept.String()
	if r.text = isText(text, r.whole); r.text {
		r.body = text
	}
	if err != nil || file == nil {
		return err
	}
	if _, err := file.Write(kept.Bytes()); err != nil {
		return err
	}
	n, err = io.Copy(file, body)
	r.size, r.whole = r.size+n, true
	return err
}

// isText tells whether a body, or the beginning of one, can be shown.
func isText(body string, whole bool) bool {
	if !whole {
		body = head(body, len(body)-1) // the last character may be cut
	}
	return utf8.ValidString(body) && !strings.Contains(body, "\x00")
}

// show puts the body into the log.
func (r *answer) show(log io.Writer) {
	switch {
	case r.size == 0:
	case !r.text:
		say(log, "(%s of %s)", r.length(), r.kind)
	default:
		shown := head(r.body, shownBody)
		_, _ = io.WriteString(log, shown)
		if !strings.HasSuffix(shown, "\n") {
			say(log, "")
		}
		if len(shown) < len(r.body) {
			say(log, "(the first %d bytes of %s)", len(shown), r.length())
		}
	}
}

func (r *answer) length() string {
	if !r.whole {
		return fmt.Sprintf("more than %d bytes", r.size)
	}
	return counted(int(r.size), "byte")
}

// keep makes outputs of the answer.
func (r *answer) keep(o *Outcome) {
	o.Outputs = map[string]string{"status": strconv.Itoa(r.status)}
	if !r.text {
		return
	}
	body := r.body
	if len(body) > keptBody {
		body = head(body, keptBody)
		o.Warnings = append(o.Warnings, fmt.Sprintf("output %q is cut off after %d bytes: save the body to a file", "body", len(body)))
	}
	o.Outputs["body"] = body
}

func (h *HTTP) expects(status int) bool {
	if len(h.Expect) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.Contains(h.Expect, status)
}

// request makes the request. What it is known by goes along: the trace, and where it changes something, the key by which
// the other side can tell that it has seen it before.
func (h *HTTP) request(ctx context.Context, env []string) (*http.Request, error) {
	method := h.Method
	if method == "" {
		if method = http.MethodGet; h.Body != "" {
			method = http.MethodPost
		}
	}
	u, err := url.Parse(h.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, cannotStart("%q is no web address: it begins with http:// or https:// and names a host", redacted(h.URL))
	}
	var body io.Reader
	if h.Body != "" {
		body = strings.NewReader(h.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, notStarted{err}
	}
	for _, f := range h.Headers {
		if strings.ContainsAny(f.Value, "\r\n\x00") {
			return nil, cannotStart("header %q has more than one line", f.Name)
		}
		req.Header.Add(f.Name, f.Value)
		if strings.EqualFold(f.Name, "Host") {
			req.Host = f.Value
		}
	}
	byDefault := func(name, value string) {
		if value != "" && req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	byDefault("User-Agent", "ax")
	byDefault("Traceparent", lookupEnv(env, "TRACEPARENT"))
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, method) {
		byDefault("Idempotency-Key", lookupEnv(env, "AX_IDEMPOTENCY_KEY"))
	}
	switch {
	case h.Body == "":
	case json.Valid([]byte(h.Body)):
		byDefault("Content-Type", "application/json")
	default:
		byDefault("Content-Type", "text/plain; charset=utf-8")
	}
	return req, nil
}

// redacted leaves a password out of what may be an address.
func redacted(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return "(the address)"
}

// redirect follows an answer to another place, unless its status is what is expected. Of the request's own header fields
// only those go to another host that say nothing of who asks.
func (h *HTTP) redirect(req *http.Request, via []*http.Request) error {
	const most = 10
	if len(h.Expect) > 0 && h.expects(req.Response.StatusCode) {
		return http.ErrUseLastResponse
	}
	if len(via) >= most {
		return fmt.Errorf("redirected more than %d times", most)
	}
	if req.URL.Host == via[0].URL.Host {
		return nil
	}
	for name := range req.Header {
		if !slices.Contains([]string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Referer", "Traceparent", "User-Agent"}, name) {
			req.Header.Del(name)
		}
	}
	return nil
}

// newClient is a client that goes by the attempt's environment.
func newClient(env []string) *http.Client {
	proxy := proxyOf(env)
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = func(req *http.Request) (*url.URL, error) { return proxy.of(req.URL) }
	t.IdleConnTimeout = 10 * time.Second
	return &http.Client{Transport: t}
}

// firstLine is the first line of a text that has any text, as an error can show it.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = plain(line); line != "" {
			return cut(line, lastLineLimit)
		}
	}
	return ""
}
