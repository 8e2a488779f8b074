package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
)

// Problem is the body of every error.
type Problem struct {
	Type      string `json:"type"` // about:blank
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail,omitempty"`
	Reason    string `json:"reason,omitempty"` // of a refusal: packages lifecycle and access list them
	RequestID string `json:"request_id,omitempty"`
	// SatisfiedBy is what would have satisfied the guard that refused.
	SatisfiedBy string `json:"satisfied_by,omitempty"`
	// Guard is the condition of a recovery that does not hold, Legal the actions for which all hold.
	Guard string   `json:"guard,omitempty"`
	Legal []string `json:"legal_actions,omitempty"`
}

// invalid is an error of the caller's making, found before anything was done.
type invalid struct {
	status int
	detail string
}

func (e invalid) Error() string { return e.detail }

func bad(format string, args ...any) error {
	return invalid{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// problemOf maps errors to answers. What went wrong inside is not for the caller: it is logged.
func problemOf(err error) Problem {
	p := Problem{Type: "about:blank", Status: http.StatusInternalServerError}
	var wrong invalid
	var refused *lifecycle.Refusal
	var routed *echo.HTTPError
	var stuck *recovery.Refusal
	if errors.As(err, &stuck) {
		p.Guard, p.Legal = stuck.Guard, stuck.Legal
	}
	denied := access.DenialOf(err)
	switch {
	case denied != nil:
		p.Status, p.Detail, p.Reason, p.SatisfiedBy = statusOf(denied), denied.Error(), string(denied.Reason), denied.Reason.Remedy()
	case errors.As(err, &wrong):
		p.Status, p.Detail = wrong.status, wrong.detail
	case errors.As(err, &refused):
		p.Status, p.Detail, p.Reason = http.StatusConflict, refused.Error(), string(refused.Reason)
		if p.SatisfiedBy = refused.Reason.Remedy(); stuck != nil {
			p.SatisfiedBy = stuck.SatisfiedBy
		}
		switch refused.Reason {
		case lifecycle.UnknownNode:
			p.Status = http.StatusNotFound
		case lifecycle.EnrolmentToken, lifecycle.NoCertificate:
			p.Status = http.StatusUnauthorized
		case lifecycle.WrongCertificate:
			p.Status = http.StatusForbidden
		case lifecycle.UnnamedActor, lifecycle.EvidenceMissing, lifecycle.CertificateRequest, lifecycle.KeyReused,
			lifecycle.UnknownPool, lifecycle.UnknownTemplate:
			p.Status = http.StatusUnprocessableEntity
		}
	case errors.Is(err, store.ErrNotFound):
		p.Status, p.Detail = http.StatusNotFound, "there is no such thing"
	case errors.Is(err, context.Canceled): // the caller went away, or this process is about to
		p.Status = http.StatusServiceUnavailable
	case errors.As(err, &routed):
		p.Status, p.Detail = routed.Code, fmt.Sprint(routed.Message)
	}
	p.Title = http.StatusText(p.Status)
	return p
}

func answerProblem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := problemOf(err)
	p.RequestID = c.Request().Header.Get(semconv.HeaderRequestID)
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	if c.Request().Method == http.MethodHead {
		_ = c.NoContent(p.Status)
		return
	}
	_ = c.JSON(p.Status, p)
}
