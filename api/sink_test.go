package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

// A stream on which nothing happens for longer than a write may take goes on, over either version of HTTP.
func TestAStreamOutlastsTheDeadlineOfAWrite(t *testing.T) {
	for _, two := range []bool{false, true} {
		failed := make(chan error, 1)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := echo.New().NewContext(r, w).Response()
			out := &sink{http.NewResponseController(to), to, 100 * time.Millisecond}
			err := out.event("assessment", "1", struct{}{})
			if err == nil {
				time.Sleep(400 * time.Millisecond)
				err = out.event("assessment", "2", struct{}{})
			}
			failed <- err
		}))
		server.EnableHTTP2 = two
		server.StartTLS()
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		want := "event: assessment\nid: 1\ndata: {}\n\nevent: assessment\nid: 2\ndata: {}\n\n"
		if err != nil || string(text) != want || (answer.ProtoMajor == 2) != two {
			t.Errorf("HTTP/%d: %q %v", answer.ProtoMajor, text, err)
		}
		if err := <-failed; err != nil {
			t.Errorf("HTTP/%d: %v", answer.ProtoMajor, err)
		}
		server.Close()
	}
}
