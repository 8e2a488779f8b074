package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// streaming adds what tells of changes as they are kept: server-sent events, whose id is a cursor behind which a client goes on.
func (s *Server) streaming(v1 *echo.Group) {
	v1.GET("/allocations/:id/events", func(c echo.Context) error {
		id, err := idParam(c)
		if err != nil {
			return err
		}
		return s.stream(c, id, func(r correlator.Revision) any { return r })
	})
	v1.GET("/incidents/events", func(c echo.Context) error {
		return s.stream(c, "", func(r correlator.Revision) any { return changeOf(r) })
	})
}

// Change is a revision in one line.
type Change struct {
	ID       string          `json:"allocation_id"`
	JudgedAt correlator.Time `json:"judged_at"`
	Why      string          `json:"why"`
	Differs  []string        `json:"differs"`
	State    *string         `json:"state"`
	Outcome  string          `json:"outcome"`
	Layer    string          `json:"layer"` // of the strongest fault
	Summary  string          `json:"summary"`
	Stuck    bool            `json:"stuck"`
}

func changeOf(r correlator.Revision) Change {
	line := query.Listed{}
	line.Say(&r.Assessment, int64(r.JudgedAt))
	return Change{r.ID, r.JudgedAt, r.Why, append([]string{}, r.Differs...), r.Assessment.State, line.Outcome, line.Layer, line.Summary, line.Stuck}
}

// beat is how often something is sent where nothing happens, so that whoever stands between does not end the connection;
// writeWithin is how long a client may take to read what is sent.
const (
	beat        = 15 * time.Second
	writeWithin = 10 * time.Second
)

// asTheyAre says whether an answer is sent as it is: a stream, which nobody may hold back, and the page's files, which are compressed already.
func asTheyAre(c echo.Context) bool {
	path := c.Path()
	return strings.HasSuffix(path, "/events") && path != "/api/v1/events" || strings.HasPrefix(path, "/ui/") || path == "/metrics" // compresses by itself
}

// stream sends what is said until the client goes away, falls too far behind, or the server ends: it goes on from the last id.
func (s *Server) stream(c echo.Context, allocation string, tell func(correlator.Revision) any) error {
	ctx := c.Request().Context()
	cursor := c.Request().Header.Get("Last-Event-ID")
	if cursor == "" {
		cursor = c.QueryParam("last_event_id") // what a page that is opened anew knows
	}
	from, err := s.answers.Stream(ctx, allocation, cursor)
	if err != nil {
		return err
	}
	defer from.Close()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would wait for more
	c.Response().WriteHeader(http.StatusOK)
	out := &sink{http.NewResponseController(c.Response()), c.Response(), writeWithin}
	for _, e := range from.Past {
		if err := out.event("assessment", e.Cursor, tell(e.Revision)); err != nil {
			return nil //nolint:nilerr // the client went away
		}
	}
	if err := out.event("caught_up", from.Cursor, struct{}{}); err != nil {
		return nil //nolint:nilerr // the client went away
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			err = out.write(":\n\n")
		case e, open := <-from.Next:
			if !open {
				return nil // too far behind
			}
			var hidden bool
			if hidden, err = from.Hidden(ctx, e); err == nil && !hidden {
				err = out.event("assessment", e.Cursor, tell(e.Revision))
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the client went away, or the store: it goes on from its cursor
		}
	}
}

// sink writes server-sent events.
type sink struct {
	control *http.ResponseController
	to      *echo.Response
	within  time.Duration // that a write may take
}

func (k *sink) event(name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	head := "event: " + name + "\n"
	if id != "" {
		head += "id: " + id + "\n"
	}
	return k.write(head + "data: " + string(text) + "\n\n")
}

func (k *sink) write(text string) error {
	_ = k.control.SetWriteDeadline(time.Now().Add(k.within)) // a recorder in a test has none
	if _, err := fmt.Fprint(k.to, text); err != nil {
		return err
	}
	err := k.control.Flush()
	_ = k.control.SetWriteDeadline(time.Time{}) // HTTP/2 ends a stream whose deadline passes, though nothing is being written
	return err
}
