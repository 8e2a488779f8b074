package lab

import (
	"context"
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
	dead          atomic.Bool // the last dial failed
}

// watch dials until ctx ends; a change of health is a log line.
func (u *upstream) watch(ctx context.Context, every time.Duration, says *telemetry.Source) {
	dialer := net.Dialer{Timeout: time.Second}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		c, err := dialer.DialContext(ctx, "tcp", u.address)
		if err == nil {
			_ = c.Close()
		}
		if ctx.Err() != nil {
			return
		}
		attrs := []slog.Attr{slog.String("upstream.cluster", u.name)}
		switch was := u.dead.Swap(err != nil); {
		case err != nil && !was:
			says.Log(ctx, telemetry.Warn, fmt.Sprintf("upstream cluster %s: 0 of 1 hosts healthy: health check: %v", u.name, err), attrs...)
		case err == nil && was:
			says.Log(ctx, telemetry.Info, fmt.Sprintf("upstream cluster %s: 1 of 1 hosts healthy", u.name), attrs...)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
