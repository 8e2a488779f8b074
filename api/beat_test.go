package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// quiet is where nothing happens.
type quiet struct{ Answers }

func (quiet) Stream(context.Context, string, string) (query.Stream, error) {
	return query.Stream{Cursor: "c", Next: make(chan query.Told), Close: func() {}}, nil
}

// Where nothing happens a comment is sent every 15 seconds, so that nobody between takes the connection for dead.
func TestAQuietStreamBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), 46*time.Second)
		defer leave()
		w := httptest.NewRecorder()
		c := echo.New().NewContext(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), w)
		if err := (&Server{answers: quiet{}}).stream(c, "", func(correlator.Revision) any { return nil }); err != nil {
			t.Error(err)
		}
		if want := "event: caught_up\nid: c\ndata: {}\n\n:\n\n:\n\n:\n\n"; w.Body.String() != want {
			t.Errorf("%q, want %q", w.Body, want)
		}
	})
}
