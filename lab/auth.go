package lab

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// check is the question that the API puts to the authorization service.
type check struct {
	Token  string `json:"token"`
	Action string `json:"action"` // read, create, cancel, release
}

// decision is the answer.
type decision struct {
	Allowed bool   `json:"allowed"`
	Subject string `json:"subject,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// auth decides by a table of who may do what. A subject that has a token and no line in the table is
// known and refused.
type auth struct {
	emitter  *telemetry.Emitter
	subjects map[string]string // token → subject

	mu      sync.RWMutex
	policy  map[string]map[string]bool // subject → actions
	expired map[string]time.Time       // token → since when it is over
}

// expire ends the time of a token; the zero time is a token that goes on.
func (a *auth) expire(token string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expired[token] = at
}

// forget takes a subject's line out of the policy; put brings it back.
func (a *auth) forget(subject string) (put func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	line := a.policy[subject]
	delete(a.policy, subject)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.policy[subject] = line
	}
}

// decide answers a question, with the status that says the same.
func (a *auth) decide(q check) (d decision, status int) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	d = decision{Subject: a.subjects[q.Token]}
	over := a.expired[q.Token]
	switch {
	case d.Subject == "":
		d.Reason = "token is not known"
		return d, http.StatusUnauthorized
	case !over.IsZero():
		d.Reason = fmt.Sprintf("token expired %s ago", time.Since(over).Round(time.Second))
		return d, http.StatusUnauthorized
	case a.policy[d.Subject] == nil:
		d.Reason = "no policy entry for subject " + d.Subject
		return d, http.StatusForbidden
	case !a.policy[d.Subject][q.Action]:
		d.Reason = fmt.Sprintf("policy of %s does not allow %s", d.Subject, q.Action)
		return d, http.StatusForbidden
	}
	d.Allowed = true
	return d, http.StatusOK
}

func newAuth(emitter *telemetry.Emitter) *auth {
	all := map[string]bool{"read": true, "create": true, "cancel": true, "release": true}
	return &auth{
		emitter: emitter, expired: map[string]time.Time{},
		subjects: map[string]string{"tok-alice": "alice", "tok-bob": "bob", "tok-ci": "ci-runner", "tok-erin": "erin"},
		policy:   map[string]map[string]bool{"alice": all, "bob": all, "ci-runner": all},
	}
}

func (a *auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, span := a.emitter.Start(telemetry.Extract(r.Context(), r.Header), "check", telemetry.Server)
	defer span.End()
	var q check
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d, status := a.decide(q)
	attrs := []slog.Attr{
		slog.String("auth.subject", d.Subject), slog.String("auth.action", q.Action), slog.Bool("auth.allowed", d.Allowed),
	}
	if !d.Allowed {
		attrs = append(attrs, slog.String("auth.reason", d.Reason), slog.Int(semconv.HTTPStatusCode, status), slog.String(semconv.ErrorType, "denied"))
		a.emitter.Log(ctx, telemetry.Warn, fmt.Sprintf("decision: %s denied to %s: %s", q.Action, dash(d.Subject), d.Reason), attrs...)
	} else if q.Action != "read" {
		a.emitter.Log(ctx, telemetry.Info, fmt.Sprintf("decision: %s allowed to %s", q.Action, d.Subject), attrs...)
	}
	span.Set(attrs...)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(d)
}
