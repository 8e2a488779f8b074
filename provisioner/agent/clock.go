package agent

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// notable is how far two clocks are apart before it is worth a word: a Date header has whole seconds.
const notable = 5 * time.Second

// clock is the node's own, and what is known of the node API's.
type clock struct {
	now    func() time.Time
	behind atomic.Int64 // what the node API's is ahead of ours, in nanoseconds
	known  atomic.Bool
}

func newClock(now func() time.Time) *clock {
	if now == nil {
		now = time.Now
	}
	return &clock{now: now}
}

// heard learns from the Date of an answer.
func (c *clock) heard(date string) {
	if t, err := http.ParseTime(date); err == nil {
		c.behind.Store(int64(t.Add(500 * time.Millisecond).Sub(c.now())))
		c.known.Store(true)
	}
}

// theirs is the time by the node API's clock: certificates are judged by that one.
func (c *clock) theirs() time.Time { return c.now().Add(time.Duration(c.behind.Load())) }

// apart says in words by how much the clocks differ, "" where they don't or nobody knows.
func (c *clock) apart() string {
	switch d := time.Duration(c.behind.Load()); {
	case !c.known.Load():
		return ""
	case d > notable:
		return fmt.Sprintf("this machine's clock is %s behind the node API's", d.Round(time.Second))
	case d < -notable:
		return fmt.Sprintf("this machine's clock is %s ahead of the node API's", (-d).Round(time.Second))
	}
	return ""
}

// explain says by whose clock a server's certificate is not valid: by ours, and whether ours can be believed.
func (c *clock) explain(err error) error {
	var invalid x509.CertificateInvalidError
	if !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
		return err
	}
	said := c.apart()
	if said == "" {
		said = "what the node API's says is not known"
		if c.known.Load() {
			said = "it agreed with the node API's when that was last heard"
		}
	}
	return fmt.Errorf("%w (by this machine's clock, %s; %s)", err, c.now().UTC().Format(time.RFC3339), said)
}
