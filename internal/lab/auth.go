package lab

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

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
	subjects map[string]string          // token → subject
	policy   map[string]map[string]bool // subject → actions
	says     *telemetry.Source
}

func newAuth(says *telemetry.Source) *auth {
	all := map[string]bool{"read": true, "create": true, "cancel": true, "release": true}
	return &auth{
		says:     says,
		subjects: map[string]string{"tok-alice": "alice", "tok-bob": "bob", "tok-ci": "ci-runner", "tok-erin": "erin"},
		policy:   map[string]map[string]bool{"alice": all, "bob": all, "ci-runner": all},
	}
}

func (a *auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, span := a.says.Start(telemetry.Extract(r.Context(), r.Header), "check", telemetry.Server)
	defer span.End()
	var q check
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d := decision{Subject: a.subjects[q.Token]}
	status := http.StatusOK
	switch {
	case d.Subject == "":
		status, d.Reason = http.StatusUnauthorized, "token is not known"
	case a.policy[d.Subject] == nil:
		status, d.Reason = http.StatusForbidden, "no policy entry for subject "+d.Subject
	case !a.policy[d.Subject][q.Action]:
		status, d.Reason = http.StatusForbidden, fmt.Sprintf("policy of %s does not allow %s", d.Subject, q.Action)
	default:
		d.Allowed = true
	}
	attrs := []slog.Attr{
		slog.String("auth.subject", d.Subject), slog.String("auth.action", q.Action), slog.Bool("auth.allowed", d.Allowed),
	}
	if !d.Allowed {
		attrs = append(attrs, slog.String("auth.reason", d.Reason), slog.Int(semconv.HTTPStatusCode, status), slog.String(semconv.ErrorType, "denied"))
		a.says.Log(ctx, telemetry.Warn, fmt.Sprintf("decision: %s denied to %s: %s", q.Action, dash(d.Subject), d.Reason), attrs...)
	} else if q.Action != "read" {
		a.says.Log(ctx, telemetry.Info, fmt.Sprintf("decision: %s allowed to %s", q.Action, d.Subject), attrs...)
	}
	span.Set(attrs...)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(d)
}
