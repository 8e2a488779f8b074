package collector

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// Two Collectors in front of one store: what passes through one is known to the other soon after, and
// to either after a restart at once.
func TestReplicasShareLinks(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	a, b := newProcess(t, dsn), newProcess(t, dsn)
	conn := connect(t, dsn)
	send := func(c *process, body string, attrs map[string]any) {
		t.Helper()
		if status, answer := c.postLogs(logs(1, body, attrs)); status != http.StatusOK {
			t.Fatal(status, answer)
		}
	}
	stamped := func(body string) string {
		return fmt.Sprintf("SELECT count() FROM records WHERE startsWith(body, '%s ') AND stamped['allocation_id'] = 'a-1' AND via = 'workflow'", body)
	}
	send(b, "early", map[string]any{"workflow_id": "w-1"})
	b.reaches(conn, "SELECT count() FROM records WHERE startsWith(body, 'early ') AND allocation_id = '' AND via = ''", 1)

	begun := time.Now()
	send(a, "binding", map[string]any{"workflow_id": "w-1", "allocation_id": "a-1"})
	n := 0
	b.eventually("a record through b is stamped with what passed through a", func() error {
		n++
		body := fmt.Sprintf("probe-%d", n)
		send(b, body, map[string]any{"workflow_id": "w-1"})
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if there, err := number(conn, fmt.Sprintf("SELECT count() FROM records WHERE startsWith(body, '%s ')", body)); err != nil || there == 0 {
				continue
			}
			if ours, err := number(conn, stamped(body)); err != nil || ours == 1 {
				return err
			}
			return fmt.Errorf("%s is not stamped", body)
		}
		return fmt.Errorf("%s is not in the store", body)
	})
	t.Logf("b knew after %s", time.Since(begun).Round(100*time.Millisecond))

	// What b says of it: the early record's identifier was resolved late.
	for _, metric := range []string{
		`faultline_identity_late_links_total{via="workflow"`, "faultline_identity_late_link_delay_seconds_count",
		"faultline_identity_lookup_duration_seconds_bucket", `faultline_linkstore_polls_total{outcome="ok"`,
		`faultline_linkstore_rows_total{outcome="new"`, "faultline_linkstore_poll_duration_seconds_bucket", "\nfaultline_linkstore_lag_seconds ",
	} {
		b.eventually("it shows "+metric, func() error {
			r, err := http.Get("http://" + b.metrics + "/metrics")
			if err != nil {
				return err
			}
			defer func() { _ = r.Body.Close() }()
			text, err := io.ReadAll(r.Body)
			if err == nil && !strings.Contains(string(text), metric) {
				err = errors.New("no such line")
			}
			return err
		})
	}

	b.stop()
	b.start()
	send(b, "restarted", map[string]any{"workflow_id": "w-1"})
	b.reaches(conn, stamped("restarted"), 1)
	b.stop()
	a.stop()
}
