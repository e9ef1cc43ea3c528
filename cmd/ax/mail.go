package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ax-scheduler/ax/runtime"
)

// mailOptions are the flags of the server that mails go through.
type mailOptions struct{ addr, from, passwordFile string }

func (o *mailOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.addr, "smtp-addr", "", "SMTP server for the mails of notify, as mail.example.com:587")
	f.StringVar(&o.from, "smtp-from", "", "sender of the mails of notify")
	f.StringVar(&o.passwordFile, "smtp-password-file", "", "file with the password of AX_SMTP_USER; AX_SMTP_PASSWORD gives it too")
}

// value gives the server. Who logs in stands in variables and files alone: a
// command line can be seen by others.
func (o *mailOptions) value(env []string) (runtime.Mail, error) {
	m := runtime.Mail{Addr: o.addr, From: o.from}
	for _, v := range env {
		if user, ok := strings.CutPrefix(v, "AX_SMTP_USER="); ok {
			m.User = user
		}
		if password, ok := strings.CutPrefix(v, "AX_SMTP_PASSWORD="); ok {
			m.Password = password
		}
	}
	if o.passwordFile != "" {
		text, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return m, fmt.Errorf("--smtp-password-file: %w", err)
		}
		m.Password = strings.TrimRight(string(text), "\r\n")
	}
	if (m.Addr == "") != (m.From == "") {
		return m, fmt.Errorf("--smtp-addr and --smtp-from go together: one of them is missing")
	}
	return m, nil
}

// tellTime is how long a command waits at its end for the targets of runs to
// take their messages.
const tellTime = 5 * time.Second

// tellTargets sends what the runs of this process have to tell. It may know
// secrets that a serving ax does not, so it has the first try; that one has the
// others.
func tellTargets(ctx context.Context, e *runtime.Engine) error {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	return e.DeliverOwn(ctx)
}
