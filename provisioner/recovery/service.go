package recovery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// ErrNoAction is the error of a name that is not in the table.
var ErrNoAction = errors.New("there is no such action")

// Service carries out actions of operators.
type Service struct {
	store     *store.Store
	config    Config
	verdicts  Verdicts // nil: only what callers bring
	tokenLife time.Duration
}

// New makes a service on a store; tokenLife is that of enrolment tokens.
func New(s *store.Store, c Config, tokenLife time.Duration) *Service {
	d := &Service{store: s, config: c, tokenLife: tokenLife}
	if c.Verdicts != "" {
		d.verdicts = correlator{c.Verdicts, c.VerdictsTokenFile, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	}
	return d
}

// By is who acts, and how that is known.
type By struct {
	Actor     string `json:"actor"`
	ActorType string `json:"-"`
	Via       string `json:"-"`
}

// Request is one action that somebody wants.
type Request struct {
	ID       string // of the allocation, node or message
	Reason   string
	Absent   bool   // somebody has seen that nothing runs any more
	Evidence string // where that is written
	Verdict  *Verdict
	By       By
	Key      string // idempotency key; "": none
	DryRun   bool
}

// fingerprint tells this request from others under the same key.
func (r Request) fingerprint(a Action) string {
	r.Key, r.DryRun = "", false
	text, _ := json.Marshal(struct {
		Of, Action string
		Request
	}{string(a.Of), a.Name, r})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Answer is what was done, or would be.
type Answer struct {
	Action    string     `json:"action"`
	Of        string     `json:"of"` // allocation, node, message
	ID        string     `json:"id"`
	DryRun    bool       `json:"dry_run"`
	AuditID   string     `json:"audit_id,omitempty"` // absent after a dry run
	At        time.Time  `json:"at"`
	Actor     string     `json:"actor"`
	Reason    string     `json:"reason"`
	Changes   []Change   `json:"changes"`
	Verdict   Verdict    `json:"verdict"`
	Enrolment *Enrolment `json:"enrolment,omitempty"`
}

// Enrolment is a one-time token. It is shown once: an answer that is given again has none.
type Enrolment struct {
	Token     string    `json:"token,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Do does an action, or tries it. replayed says that it was done before under the same key, and that the
// answer is the one that was given then. A guard's refusal is a *Refusal, and stands in the audit log
// unless it was a dry run.
func (d *Service) Do(ctx context.Context, of Kind, name string, r Request) (out Answer, replayed bool, err error) {
	a, ok := Named(of, name)
	if !ok {
		return out, false, ErrNoAction
	}
	if telemetry.ID(ctx, semconv.CorrelationID) == "" {
		ctx = telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
	}
	w, err := d.look(ctx, a, r)
	if err != nil {
		return out, false, err
	}
	verdict := d.justify(ctx, r, w.allocationID())
	// What is acted on stays what it is. Who has the node may be another one by the time of the transaction, which
	// tells that itself.
	switch of {
	case Allocations:
		ctx = telemetry.With(ctx, semconv.AllocationID, r.ID)
	case Nodes:
		ctx = telemetry.With(ctx, semconv.NodeID, r.ID)
	default:
		ctx = telemetry.With(ctx, semconv.OutboxID, r.ID, semconv.AllocationID, w.allocationID())
	}
	run := d.store.Update
	if r.DryRun {
		run, r.Key = d.store.DryRun, ""
	}
	err = run(ctx, "recovery "+a.Name, func(t *store.Tx) (err error) {
		out, replayed, err = d.do(t, a, r, verdict)
		return err
	})
	var refused *Refusal
	if errors.As(err, &refused) && !r.DryRun {
		err = errors.Join(err, d.refuse(ctx, a, r, refused, w, verdict))
	}
	return out, replayed, err
}

// look finds out whom an action is about, before its transaction: the verdict is fetched in between.
func (d *Service) look(ctx context.Context, a Action, r Request) (*work, error) {
	w := &work{asked: r}
	err := d.store.View(ctx, "look at "+a.Of.One(), func(t *store.Tx) error {
		w.tx = t
		return w.load(a.Of)
	})
	return w, err
}

func (d *Service) do(t *store.Tx, a Action, r Request, v Verdict) (out Answer, replayed bool, err error) {
	caller := r.By.Via + "/" + r.By.Actor
	if r.Key != "" {
		kept, used, err := t.ClaimKey(caller, r.Key, r.fingerprint(a))
		if err != nil || used {
			if err == nil {
				err = json.Unmarshal([]byte(kept), &out)
			}
			return out, used, err
		}
	}
	w := &work{tx: t, asked: r, tokenLife: d.tokenLife}
	if err := w.load(a.Of); err != nil {
		return out, false, err
	}
	before := w.snapshot()
	if refused, err := a.perform(w); err != nil || refused != nil {
		if err == nil {
			err = refused
		}
		return out, false, err
	}
	out = Answer{
		Action: a.Name, Of: a.Of.One(), ID: r.ID, DryRun: r.DryRun, At: t.Now().UTC(), Actor: r.By.Actor, Reason: r.Reason,
		Changes: append(changes(before, w.snapshot()), w.sent...), Verdict: v, Enrolment: w.token,
	}
	if out.AuditID, err = t.PutAudit(a.audit(r, w, v, before, out.Changes)); err != nil {
		return out, false, err
	}
	if r.Key == "" {
		if r.DryRun {
			out.AuditID = ""
			if out.Enrolment != nil {
				out.Enrolment = &Enrolment{ExpiresAt: out.Enrolment.ExpiresAt}
			}
		}
		return out, false, nil
	}
	kept := out
	if kept.Enrolment != nil {
		kept.Enrolment = &Enrolment{ExpiresAt: kept.Enrolment.ExpiresAt}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return out, false, fmt.Errorf("keep the answer: %w", err)
	}
	return out, false, t.KeepAnswer(caller, r.Key, string(text))
}

// perform asks the guards and does the action. What the lifecycle's own guards refuse is a refusal too.
func (a Action) perform(w *work) (*Refusal, error) {
	refused, err := a.ask(w, true)
	if err == nil && refused == nil {
		err = a.do(w)
		var move *lifecycle.Refusal
		if errors.As(err, &move) {
			refused, err = &Refusal{Guard: "lifecycle", Cause: move, SatisfiedBy: move.Reason.Remedy()}, nil
		}
	}
	if refused != nil && err == nil {
		refused.Legal, err = legal(w, a.Of)
	}
	return refused, err
}

// legal names the actions of a kind that nothing but the request's own words stands against.
func legal(w *work, of Kind) ([]string, error) {
	out := []string{}
	for _, a := range Actions() {
		if a.Of != of {
			continue
		}
		refused, err := a.ask(w, false)
		if err != nil {
			return nil, err
		}
		if refused == nil {
			out = append(out, a.Name)
		}
	}
	return out, nil
}
