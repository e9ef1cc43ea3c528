package executor

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// proxies says through which proxy a host is reached, by the variables that curl and others know: HTTP_PROXY,
// HTTPS_PROXY and NO_PROXY, or the same in small letters.
type proxies struct {
	http, https string
	no          []string
}

func proxyOf(env []string) proxies {
	get := func(name string) string {
		if value := lookupEnv(env, strings.ToLower(name)); value != "" {
			return value
		}
		return lookupEnv(env, name)
	}
	return proxies{
		get("HTTP_PROXY"), get("HTTPS_PROXY"),
		strings.FieldsFunc(get("NO_PROXY"), func(r rune) bool { return r == ',' || r == ' ' }),
	}
}

// of gives the proxy for an address; nil for none. This machine itself is never reached through one.
func (p proxies) of(u *url.URL) (*url.URL, error) {
	proxy := p.http
	if u.Scheme == "https" {
		proxy = p.https
	}
	if proxy == "" || p.direct(u) {
		return nil, nil
	}
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	at, err := url.Parse(proxy)
	if err != nil || at.Host == "" {
		return nil, fmt.Errorf("the proxy of the environment is no address")
	}
	return at, nil
}

// direct tells whether an address is reached without a proxy.
func (p proxies) direct(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	ip, _ := netip.ParseAddr(host)
	if host == "localhost" || ip.IsLoopback() {
		return true
	}
	for _, entry := range p.no {
		entry = strings.ToLower(entry)
		if name, port, err := net.SplitHostPort(entry); err == nil {
			if port != u.Port() {
				continue
			}
			entry = name
		}
		name := strings.TrimPrefix(strings.TrimPrefix(entry, "*"), ".")
		network, _ := netip.ParsePrefix(entry)
		if entry == "*" || network.IsValid() && network.Contains(ip) || host == name || name != "" && strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}
