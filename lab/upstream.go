package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// upstream is one back end of the ingress, watched by dialling it.
type upstream struct {
	name, address string
	dead          atomic.Bool // the last dial failed, or nothing is registered
	unregistered  atomic.Bool // no endpoint stands behind it any more, whatever listens
	again         chan struct{}
}

func newUpstream(name, address string) *upstream {
	return &upstream{name: name, address: address, again: make(chan struct{}, 1)}
}

// look has the health be checked at once.
func (u *upstream) look() {
	select {
	case u.again <- struct{}{}:
	default:
	}
}

// watch dials until ctx ends, while the ingress runs; a change of health is a log line.
func (u *upstream) watch(ctx context.Context, every time.Duration, emitter *telemetry.Emitter, runs func() bool) {
	dialer := net.Dialer{Timeout: time.Second}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for !runs() && ctx.Err() == nil {
			pause(ctx, every)
		}
		hosts, err := 0, errors.New("no endpoints")
		if !u.unregistered.Load() {
			hosts = 1
			var c net.Conn
			if c, err = dialer.DialContext(ctx, "tcp", u.address); err == nil {
				_ = c.Close()
			}
		}
		if ctx.Err() != nil {
			return
		}
		attrs := []slog.Attr{slog.String("upstream.cluster", u.name)}
		switch was := u.dead.Swap(err != nil); {
		case err != nil && !was:
			emitter.Log(ctx, telemetry.Warn, fmt.Sprintf("upstream cluster %s: 0 of %d hosts healthy: health check: %v", u.name, hosts, err), attrs...)
		case err == nil && was:
			emitter.Log(ctx, telemetry.Info, fmt.Sprintf("upstream cluster %s: 1 of 1 hosts healthy", u.name), attrs...)
		}
		select {
		case <-ctx.Done():
			return
		case <-u.again:
		case <-tick.C:
		}
	}
}
