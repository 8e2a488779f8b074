package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Config is an agent's.
type Config struct {
	URL       string         // base URL of the ingress: https
	Roots     *x509.CertPool // who may vouch for the ingress
	Name      string         // of the host
	Folder    string         // what survives a restart
	Token     string         // spent where the folder holds no node instance
	BootID    string         // of the node, new at every boot
	Poll      time.Duration  // longest wait of one poll for a task
	Retry     time.Duration  // before the first retry; doubles up to eight times that
	Renew     time.Duration  // between two renewals of a claim; well below the lease
	Heartbeat time.Duration  // between two heartbeats
	Timeout   time.Duration  // of one request, beyond what it waits by itself
}

// Validate names the field that is wrong.
func (c Config) Validate() error {
	switch {
	case c.URL == "" || c.Folder == "" || c.Name == "" || c.BootID == "":
		return errors.New("agent: URL, Folder, Name and BootID must be set")
	case c.Poll <= 0 || c.Retry <= 0 || c.Renew <= 0 || c.Heartbeat <= 0 || c.Timeout <= 0:
		return errors.New("agent: Poll, Retry, Renew, Heartbeat and Timeout must be positive")
	}
	return nil
}

// Host is what an agent runs on. Every field may be nil: then it is the real thing.
type Host struct {
	Certificate func(own *tls.Certificate) *tls.Certificate                          // what it presents, given its own; own may be nil
	Now         func() time.Time                                                     // its clock
	Dial        func(ctx context.Context, network, address string) (net.Conn, error) // its network
	Write       func(path string, data []byte) error                                 // its disk: the whole file or nothing
	NewEmitter  func(identity ...slog.Attr) Emitter                                  // its log, for an agent with these attributes
}

// Emitter takes an agent's records; *telemetry.Emitter is one.
type Emitter interface {
	Log(ctx context.Context, severity plog.SeverityNumber, body string, attrs ...slog.Attr)
	Start(ctx context.Context, name string, kind ptrace.SpanKind, attrs ...slog.Attr) (context.Context, *telemetry.Span)
	Heartbeat(ctx context.Context, component string, every time.Duration)
}

// Worker does what tasks ask for.
type Worker interface {
	// Step does step n, counted from 0, of a task, and reports whether it was the last one. What it did must be
	// there when it returns. It is asked again for a step during which the agent died. ctx ends when the claim
	// no longer counts. A Failure ends the task as failed; any other error is one without a code.
	Step(ctx context.Context, t rest.Task, n int, emitter Emitter) (last bool, err error)
	// Observe is what is seen of the tenant at the end of a task that succeeded.
	Observe(t rest.Task) string
}

// Failure is how a task fails.
type Failure struct{ Code, Message string }

func (f Failure) Error() string { return f.Code + ": " + f.Message }
