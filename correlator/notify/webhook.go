package notify

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/faultline-io/faultline/correlator/incident"
)

// Message is what a webhook is sent.
type Message struct {
	Version  string            `json:"version"` // of this form: "1"
	Status   string            `json:"status"`  // open, changed or over
	Incident incident.Incident `json:"incident"`
	Page     string            `json:"page"` // where people see it
}

// What has happened to an incident.
const (
	Open    = "open"
	Changed = "changed"
	Over    = "over"
)

// webhook is sent each change of an incident, one after the other. One that it does not take is sent again, as it stands by then.
type webhook struct {
	shown, address, page string
	client               *http.Client
	begun                time.Time
	sent                 map[string]sent // by incident
}

// sent is what of an incident was taken.
type sent struct {
	form     [sha256.Size]byte
	incident incident.Incident
}

// lately is how long before the start an incident may have ended and still be told of: it may have been told of as open.
const lately = time.Hour

func newWebhook(where, page string, client *http.Client) *webhook {
	shown := "webhook"
	if u, err := url.Parse(where); err == nil {
		shown += " " + u.Host
	}
	return &webhook{shown: shown, address: where, page: page, client: client, sent: map[string]sent{}}
}

func (w *webhook) name() string { return w.shown }

func (w *webhook) tell(ctx context.Context, all []incident.Incident, now time.Time) error {
	if w.begun.IsZero() {
		w.begun = now
	}
	there := map[string]bool{}
	for _, in := range all {
		there[in.ID] = true
		before, known := w.sent[in.ID]
		status := Changed
		switch {
		case !in.Open && (!known && time.Unix(0, int64(in.LastSeen)).Before(w.begun.Add(-lately)) || known && !before.incident.Open):
			continue // it was over long ago, or that was said
		case !in.Open:
			status = Over
		case !known || !before.incident.Open:
			status = Open
		case before.form == form(in):
			continue
		}
		if err := w.send(ctx, status, in); err != nil {
			return err
		}
	}
	for id, before := range w.sent {
		switch {
		case there[id]:
		case before.incident.Open: // found to be part of another
			before.incident.Open = false
			if err := w.send(ctx, Over, before.incident); err != nil {
				return err
			}
		default:
			delete(w.sent, id)
		}
	}
	return nil
}

func (w *webhook) send(ctx context.Context, status string, in incident.Incident) error {
	err := post(ctx, w.client, w.address, Message{Version: "1", Status: status, Incident: in, Page: w.page + "/ui/incidents/" + url.PathEscape(in.ID)})
	if err == nil {
		w.sent[in.ID] = sent{form(in), in}
	}
	return err
}

// form is what an incident is told anew for: whom it hits, what it is and how sure that is, not when it was last seen.
func form(in incident.Incident) [sha256.Size]byte {
	victims := make([]string, len(in.Victims))
	for i, v := range in.Victims {
		victims[i] = v.ID
	}
	text, _ := json.Marshal([]any{in.Open, in.Layer, in.Mechanism, in.Confidence, in.Contested, in.Subject, in.Owner, victims}) // of strings: nothing can fail
	return sha256.Sum256(text)
}
