// Package problem has the errors of the REST API as RFC 9457 objects. Their types are stable: callers branch on them, and
// docs/api.md says what each one means.
package problem

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// Base is what the URL of every type begins with; a kind's name ends it.
const Base = "https://github.com/faultline-io/faultline/blob/main/docs/api.md#problem-"

// Kind is one type of problem.
type Kind struct {
	Name   string // in the type's URL; never changes
	Title  string
	Status int
	Remedy string // what the caller can do
}

// Type is the kind's URL.
func (k Kind) Type() string { return Base + k.Name }

// Kinds that anybody may meet before a question is looked at.
var (
	Unauthenticated = Kind{"unauthenticated", "it is not known who calls", http.StatusUnauthorized,
		"Send `Authorization: Bearer TOKEN`; `WWW-Authenticate` says what is wrong with the one that was sent."}
	Forbidden = Kind{"forbidden", "the caller may not do this", http.StatusForbidden,
		"Ask as somebody with the role, or the tenants, that `detail` names."}
	ForeignPage = Kind{"foreign-page", "a page of another site is behind the request", http.StatusForbidden,
		"Ask from the server's own page; with its cookie, whatever is no GET also wants the header `X-Faultline-Request: 1`."}
	WrongHost = Kind{"wrong-host", "the server does not go by this name", http.StatusMisdirectedRequest,
		"Ask under the address that it listens on, or have its operator add the name to `access.hosts`."}
	TooManyRequests = Kind{"too-many-requests", "too many requests", http.StatusTooManyRequests,
		"Wait for the seconds that `Retry-After` names (`limits.rate`, `limits.concurrent`, `limits.concurrent_each`)."}
	TooManyStreams = Kind{"too-many-streams", "too many streams", http.StatusTooManyRequests,
		"Wait, or close streams that nobody looks at (`limits.streams`)."}
	BodyTooLarge = Kind{"body-too-large", "the body is too large", http.StatusRequestEntityTooLarge,
		"Send less (`limits.body`)."}
	IssuerUnavailable = Kind{"issuer-unavailable", "the issuer of the token does not answer", http.StatusServiceUnavailable,
		"Try again after the seconds that `Retry-After` names, or use a token of the configuration."}
)

// Kinds that are about a question.
var (
	InvalidParameter = Kind{"invalid-parameter", "invalid parameter", http.StatusBadRequest,
		"`detail` names the parameter and what it has to be."}
	UnknownIdentifier = Kind{"unknown-identifier", "unknown identifier", http.StatusNotFound,
		"Nothing is known of it, or nothing that the caller may see."}
	NotFound = Kind{"not-found", "there is no such page", http.StatusNotFound,
		"`/api/v1/openapi.yaml` lists every path."}
	MethodNotAllowed = Kind{"method-not-allowed", "the page does not take this method", http.StatusMethodNotAllowed,
		"`/api/v1/openapi.yaml` lists every method."}
	TooMuch = Kind{"question-too-large", "the question reads too much", http.StatusUnprocessableEntity,
		"Narrow it as `detail` says."}
	NotImplemented = Kind{"not-implemented", "this server cannot answer that", http.StatusNotImplemented,
		"Ask a correlator with a store."}
	RecoveryRefused = Kind{"recovery-refused", "the provisioner does not do this", http.StatusConflict,
		"`detail` has the provisioner's words: a guard that is not met, a role that is missing, or an action that there is not."}
	ProvisionerUnavailable = Kind{"provisioner-unavailable", "the provisioner does not answer", http.StatusBadGateway,
		"Try again; the correlator's log says what was met. A dry run changes nothing; with the same `Idempotency-Key` an action is done once."}
	LinesUnavailable = Kind{"lines-unavailable", "Loki does not answer", http.StatusBadGateway,
		"Try again after the seconds that `Retry-After` names; `detail` has what was met. Everything but raw lines is answered without it."}
	StoreUnavailable = Kind{"store-unavailable", "the store does not answer", http.StatusServiceUnavailable,
		"Try again after the seconds that `Retry-After` names; `/readyz` and the correlator's log say more."}
)

// Kinds lists all of them, in the order of the document.
func Kinds() []Kind {
	return []Kind{
		Unauthenticated, Forbidden, ForeignPage, WrongHost, TooManyRequests, TooManyStreams, BodyTooLarge, IssuerUnavailable,
		InvalidParameter, UnknownIdentifier, NotFound, MethodNotAllowed, TooMuch, NotImplemented, RecoveryRefused, ProvisionerUnavailable, LinesUnavailable, StoreUnavailable,
	}
}

// Problem is an RFC 9457 object, and an error.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Instance string `json:"instance,omitempty"`
}

// New gives a problem of a kind.
func New(k Kind, detail string) Problem {
	return Problem{Type: k.Type(), Title: k.Title, Status: k.Status, Detail: detail}
}

func (p Problem) Error() string {
	if p.Detail == "" {
		return p.Title
	}
	return p.Title + ": " + p.Detail
}

// Write answers with a problem. A HEAD is answered with its status.
func Write(c echo.Context, p Problem) error {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, "no-store")
	if c.Request().Method == http.MethodHead {
		return c.NoContent(p.Status)
	}
	h.Set(echo.HeaderContentType, "application/problem+json")
	return c.JSON(p.Status, p)
}
