package guard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/internal/access"
)

func TestAStreamEndsWithItsToken(t *testing.T) {
	path, write := tokenFile(t)
	secret, ann := access.NewToken("ann", access.Viewer, time.Time{}, "blue")
	_, bob := access.NewToken("bob", access.Viewer, time.Time{})
	red := ann
	red.Tenants = access.Tenants{"red"}
	for name, then := range map[string][]access.Token{"taken back": {bob}, "of another tenant": {red, bob}, "as it was": {ann, bob}} {
		write(ann, bob)
		c := guard.DefaultConfig()
		c.TokenFile = path
		s := open(t, c, guard.DefaultLimits(), (*httptest.Server).Start)
		s.guard.Recheck(5 * time.Millisecond)
		r, err := http.NewRequest(http.MethodGet, s.url+"/api/v1/allocations/a-1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Accept", "text/event-stream")
		got, err := s.client.Do(r)
		if err != nil || got.StatusCode != http.StatusOK {
			t.Fatal(got, err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, got.Body)
		}()
		time.Sleep(30 * time.Millisecond)
		select {
		case <-ended:
			t.Fatalf("%s: it ended before", name)
		default:
		}
		write(then...)
		s.pass(2 * time.Second)
		patience := 5 * time.Second
		if name == "as it was" {
			patience = 100 * time.Millisecond
		}
		select {
		case <-ended:
			if name == "as it was" {
				t.Errorf("%s: it ended", name)
			}
		case <-time.After(patience):
			if name != "as it was" {
				t.Errorf("%s: it goes on", name)
			}
		}
		close(s.wait)
		<-ended
		_ = got.Body.Close()
	}
}
