package main

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"
)

// notifyVariables are those by which systemd tells a service how to report. They
// are not for its tasks.
var notifyVariables = []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}

// notifier reports to systemd how the service does (sd_notify(3)). Without a
// socket to report to it says nothing.
type notifier struct {
	conn     net.Conn
	watchdog time.Duration // a service that is silent for so long is restarted; 0 for never
}

func newNotifier(env []string, pid int) notifier {
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	var n notifier
	if path := vars["NOTIFY_SOCKET"]; path != "" {
		n.conn, _ = net.Dial("unixgram", path) // who cannot be told is not told
	}
	usec, err := strconv.ParseInt(vars["WATCHDOG_USEC"], 10, 64)
	if of := vars["WATCHDOG_PID"]; err == nil && (of == "" || of == strconv.Itoa(pid)) {
		n.watchdog = time.Duration(usec) * time.Microsecond
	}
	return n
}

func (n notifier) say(state string) {
	if n.conn != nil {
		_, _ = n.conn.Write([]byte(state))
	}
}

// keepAlive says that all is well, twice in the time of the watchdog, as long as
// the check succeeds within it.
func (n notifier) keepAlive(ctx context.Context, check func(context.Context) error) {
	if n.conn == nil || n.watchdog <= 0 {
		return
	}
	for tick := time.NewTicker(n.watchdog / 2); ; {
		limited, cancel := context.WithTimeout(ctx, n.watchdog/2)
		err := check(limited)
		cancel()
		if err == nil {
			n.say("WATCHDOG=1")
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
	}
}
