package runtime

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/mail"
	"net/smtp"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer is how much of an answer is read, so that its connection ends well.
const maxAnswer = 64 << 10

// post sends a notice to a web address.
func (to *address) post(ctx context.Context, n *Notice) error {
	u, err := url.Parse(to.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the url of the target is no web address: it begins with http:// or https://")
	}
	body, err := n.body(to.format)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return withoutURL(err)
	}
	h := r.Header
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("User-Agent", "ax")
	h.Set("X-Ax-Delivery", n.ID)
	h.Set("X-Ax-Event", n.Event)
	if to.secret != "" {
		at := strconv.FormatInt(time.Now().Unix(), 10)
		h.Set("X-Ax-Timestamp", at)
		h.Set("X-Ax-Signature", "sha256="+Signature(to.secret, at, body))
	}
	c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}, CheckRedirect: sameHost}
	a, err := c.Do(r)
	if err != nil {
		return withoutURL(err)
	}
	defer a.Body.Close()
	_, _ = io.CopyN(io.Discard, a.Body, maxAnswer) // what it says does not matter
	if a.StatusCode < 200 || a.StatusCode > 299 {
		return fmt.Errorf("the target answered %s", a.Status)
	}
	return nil
}

// Signature gives the HMAC-SHA256 of a message in hex: of the text of the header
// X-Ax-Timestamp, a full stop, and the body.
func Signature(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// sameHost follows only those redirects that keep the message with whom it is
// for.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > 3:
		return errors.New("the target redirects again and again")
	case r.Method != http.MethodPost, r.URL.Host != first.URL.Host, r.URL.Scheme != first.URL.Scheme && r.URL.Scheme != "https":
		return errors.New("the target redirects elsewhere: name the address that it redirects to")
	}
	return nil
}

// withoutURL takes the address out of an error of net/http: it may be a secret.
func withoutURL(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// Mail says how mails are sent. The zero value sends none.
type Mail struct {
	Addr     string // host and port of the SMTP server; 465 is TLS from the beginning, elsewhere STARTTLS is used where it is offered
	From     string
	User     string // empty to send without a login
	Password string
}

// send sends a notice to one or several addresses.
func (m *Mail) send(ctx context.Context, to string, n *Notice) error {
	if m.Addr == "" || m.From == "" {
		return errors.New("no mail can be sent: start ax with --smtp-addr and --smtp-from")
	}
	from, err := mail.ParseAddress(m.From)
	if err != nil {
		return fmt.Errorf("--smtp-from: %w", err)
	}
	all, err := mail.ParseAddressList(to)
	if err != nil {
		return fmt.Errorf("the email of the target: %w", err)
	}
	text, err := mailOf(from, all, n)
	if err != nil {
		return err
	}
	c, err := m.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := m.login(c); err != nil {
		return err
	}
	if err := c.Mail(from.Address); err != nil {
		return err
	}
	for _, a := range all {
		if err := c.Rcpt(a.Address); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = c.Quit() // the server has taken the mail
	return nil
}

// dial connects to the server, for as long as ctx allows.
func (m *Mail) dial(ctx context.Context) (*smtp.Client, error) {
	host, port, err := net.SplitHostPort(m.Addr)
	if err != nil {
		return nil, fmt.Errorf("--smtp-addr: %w", err)
	}
	var conn net.Conn
	if port == "465" {
		conn, err = (&tls.Dialer{}).DialContext(ctx, "tcp", m.Addr)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", m.Addr)
	}
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() }) // the context ends with the try
	return smtp.NewClient(conn, host)
}

func (m *Mail) login(c *smtp.Client) error {
	host, _, _ := net.SplitHostPort(m.Addr)
	if offered, _ := c.Extension("STARTTLS"); offered {
		if err := c.StartTLS(&tls.Config{ServerName: host}); err != nil {
			return err
		}
	}
	if m.User == "" {
		return nil
	}
	// It refuses to send the password over a line that others can read.
	return c.Auth(smtp.PlainAuth("", m.User, m.Password, host))
}

// mailOf writes a mail. Its id is that of the message, so that a second copy is
// known.
func mailOf(from *mail.Address, to []*mail.Address, n *Notice) ([]byte, error) {
	var names []string
	for _, a := range to {
		names = append(names, a.String())
	}
	_, host, _ := strings.Cut(from.Address, "@")
	var b bytes.Buffer
	for _, h := range [][2]string{
		{"From", from.String()}, {"To", strings.Join(names, ", ")},
		{"Subject", mime.QEncoding.Encode("utf-8", "[ax] "+oneLine(n.Summary))},
		{"Date", n.At.Format(time.RFC1123Z)}, {"Message-ID", "<" + n.ID + "@" + host + ">"},
		{"X-Ax-Delivery", n.ID}, {"X-Ax-Event", n.Event}, {"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "quoted-printable"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	if _, err := w.Write([]byte(n.mailText())); err != nil {
		return nil, err
	}
	return b.Bytes(), w.Close()
}
