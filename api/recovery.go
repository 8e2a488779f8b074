package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/identity"
)

// Recovery is the way to the provisioner, whose control API recovers. The caller's own bearer token goes with each request:
// the provisioner decides and audits who acts, and a session's cookie is not enough to act.
type Recovery struct {
	Provisioner string        `yaml:"provisioner"` // its control API; empty: nothing is recovered from here
	Timeout     time.Duration `yaml:"timeout"`
}

// DefaultRecovery has no provisioner.
func DefaultRecovery() Recovery { return Recovery{Timeout: 30 * time.Second} }

// Validate names the key that is wrong.
func (r Recovery) Validate() error {
	if r.Provisioner == "" {
		return nil
	}
	u, err := url.Parse(r.Provisioner)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("recovery.provisioner: %q is no http URL", r.Provisioner)
	case u.Scheme == "http" && !access.Loopback(u.Host):
		return fmt.Errorf("recovery.provisioner: callers' tokens are not sent over plain http to %s: use https", u.Host)
	case r.Timeout <= 0:
		return errors.New("recovery.timeout: is not positive")
	}
	return nil
}

// WithRecovery gives a server that forwards recoveries.
func (s *Server) WithRecovery(r Recovery) *Server {
	s.recover = r
	return s
}

// ofAllocations is what the provisioner calls its actions on allocations.
const ofAllocations = "allocations"

// maxForwarded bounds a request, and an answer, that are passed on.
const maxForwarded = 1 << 20

func (s *Server) recovering(v1 *echo.Group) {
	v1.GET("/allocations/:id/recovery", s.recoveries)
	v1.POST("/allocations/:id/recovery", s.recoverOne)
}

// recoveryTarget is the allocation that a recovery is about, if the caller may see it.
func (s *Server) recoveryTarget(c echo.Context) (string, error) {
	id, err := idParam(c)
	if err != nil {
		return "", err
	}
	if s.recover.Provisioner == "" {
		return "", problem.New(problem.NotImplemented, "no provisioner is configured here (recovery.provisioner)")
	}
	_, _, err = s.answers.Said(c.Request().Context(), id, 0)
	return id, err
}

func (s *Server) recoveries(c echo.Context) error {
	if _, err := s.recoveryTarget(c); err != nil {
		return err
	}
	return s.forward(c, http.MethodGet, "/v1/recovery/actions", nil)
}

// recoveryRequest is what is asked for.
type recoveryRequest struct {
	Action                string `json:"action"`
	Of                    string `json:"of"`
	Subject               string `json:"subject"`
	Reason                string `json:"reason"`
	DryRun                *bool  `json:"dry_run"`
	RuntimeVerifiedAbsent bool   `json:"runtime_verified_absent"`
	Evidence              string `json:"evidence"`
}

// forwardedRequest is what the provisioner takes.
type forwardedRequest struct {
	Reason                string `json:"reason"`
	Actor                 string `json:"actor,omitempty"`
	DryRun                bool   `json:"dry_run,omitempty"`
	RuntimeVerifiedAbsent bool   `json:"runtime_verified_absent,omitempty"`
	Evidence              string `json:"evidence,omitempty"`
}

// recoverOne asks for one action: what it would do unless dry_run is false.
func (s *Server) recoverOne(c echo.Context) error {
	id, err := s.recoveryTarget(c)
	if err != nil {
		return err
	}
	var in recoveryRequest
	if err := bodyParam(c, &in); err != nil {
		return err
	}
	if in.Of == "" {
		in.Of = ofAllocations
	}
	if in.Subject == "" {
		in.Subject = id
	}
	if query.ScopeOf(c.Request().Context()).Limited() && (in.Of != ofAllocations || in.Subject != id) {
		return problem.New(problem.Forbidden, "who sees some tenants alone recovers their allocations, nothing beside them")
	}
	for name, value := range map[string]string{"action": in.Action, "of": in.Of, "subject": in.Subject} {
		if !identity.ValidID(value) {
			return invalid(name, "is empty, too long, or has control characters")
		}
	}
	key := c.Request().Header.Get("Idempotency-Key")
	if err := within(bound{"action", in.Action, 100}, bound{"of", in.Of, 50}, bound{"reason", in.Reason, 1000}, bound{"evidence", in.Evidence, 1000}, bound{"Idempotency-Key", key, 200}); err != nil {
		return err
	}
	dry := in.DryRun == nil || *in.DryRun
	who, known := access.From(c.Request().Context())
	if known && who.Role < access.Operator && !dry {
		return problem.New(problem.Forbidden, "to recover takes the role operator; a dry run takes none")
	}
	if !dry && key == "" {
		return invalid("Idempotency-Key", "is missing: the same key asks for the same action once, however often it is sent")
	}
	body, err := json.Marshal(forwardedRequest{in.Reason, who.Subject, dry, in.RuntimeVerifiedAbsent, in.Evidence})
	if err != nil {
		return err
	}
	return s.forward(c, http.MethodPost, "/v1/recovery/"+url.PathEscape(in.Of)+"/"+url.PathEscape(in.Subject)+"/"+url.PathEscape(in.Action), body)
}

// forward passes a request on to the provisioner, and its answer back.
func (s *Server) forward(c echo.Context, method, path string, body []byte) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.recover.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.recover.Provisioner, "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, name := range []string{"Authorization", "Idempotency-Key"} {
		if value := c.Request().Header.Get(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		s.log.Warn("the provisioner does not answer", "error", err)
		return problem.New(problem.ProvisionerUnavailable, "")
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxForwarded))
	if err != nil || !json.Valid(text) {
		return problem.New(problem.ProvisionerUnavailable, "what answers there is no provisioner")
	}
	if answer.StatusCode != http.StatusOK {
		return refusedBy(answer.StatusCode, text)
	}
	return c.JSONBlob(http.StatusOK, text)
}

// refusedBy is a refusal of the provisioner's as a problem of ours.
func refusedBy(status int, text []byte) error {
	var told struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(text, &told) // without words the status says it
	p := problem.New(problem.RecoveryRefused, strings.TrimSuffix(told.Title+": "+told.Detail, ": "))
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		p.Status = status
	}
	if status == http.StatusUnauthorized {
		p.Status = http.StatusForbidden // the caller is known here; the provisioner wants a token of its own
		p.Detail = "the provisioner wants a bearer token that it knows: " + p.Detail
	}
	return p
}
