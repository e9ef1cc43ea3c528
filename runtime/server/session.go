package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// The cookies, whose names end in the port: browsers give them to every server
// of a host.
const (
	tokenCookie = "ax_token"
	formCookie  = "ax_form"
)

func cookieName(r *http.Request, kind string) string {
	port := "80"
	if i := strings.LastIndexByte(r.Host, ':'); i >= 0 && !strings.HasSuffix(r.Host, "]") {
		port = r.Host[i+1:]
	}
	return kind + "_" + port
}

func cookieText(r *http.Request, kind string) string {
	c, err := r.Cookie(cookieName(r, kind))
	if err != nil {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return ""
	}
	return string(text)
}

// setCookie keeps a text in the browser until it is closed, out of the reach of
// scripts and of requests that other sites cause. An empty text removes it.
func setCookie(w http.ResponseWriter, r *http.Request, kind, text string) {
	c := &http.Cookie{
		Name: cookieName(r, kind), Value: base64.RawURLEncoding.EncodeToString([]byte(text)), Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
	if text == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// formToken gives what the forms of a page carry, which only this server can
// make and only for this browser.
func (s *Server) formToken(w http.ResponseWriter, r *http.Request) string {
	text := cookieText(r, formCookie)
	if text == "" {
		text = rand.Text()
		setCookie(w, r, formCookie, text)
	}
	return s.sign(text)
}

func (s *Server) sign(text string) string {
	s.keyOnce.Do(func() { _, _ = rand.Read(s.key[:]) }) // it never fails
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ownForm tells whether a form was made by this server for this browser.
func (s *Server) ownForm(r *http.Request) bool {
	text := cookieText(r, formCookie)
	return text != "" && r.ParseForm() == nil && hmac.Equal([]byte(r.PostForm.Get("form_token")), []byte(s.sign(text)))
}

// loginPage asks for a token. A browser that has followed a link from elsewhere has
// not said that it has one already: the page has it ask again by itself.
func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	v := loginView{Next: localPath(r.FormValue("next")), Again: r.Header.Get("Sec-Fetch-Site") == "cross-site"}
	s.render(w, r, http.StatusOK, "login", page{Title: "Sign in"}, v)
}

type loginView struct {
	Next  string
	Bad   bool
	Again bool
}

// login keeps the token that was given in a cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	text, next := strings.TrimSpace(r.PostForm.Get("token")), localPath(r.PostForm.Get("next"))
	if who, _ := s.holderOf(text); who.role == Nobody && len(s.Tokens) > 0 {
		s.render(w, r, http.StatusUnauthorized, "login", page{Title: "Sign in"}, loginView{Next: next, Bad: true})
		return
	}
	setCookie(w, r, tokenCookie, text)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	setCookie(w, r, tokenCookie, "")
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// localPath gives a path of this server, "/" where something else was given.
func localPath(given string) string {
	u, err := url.Parse(given)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") || strings.ContainsAny(given, "\\\r\n\t") {
		return "/"
	}
	return u.RequestURI()
}
