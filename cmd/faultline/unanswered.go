package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/internal/bearer"
)

// refusal is a problem that the correlator told of.
type refusal struct {
	status int
	words  string
}

func (r refusal) Error() string { return r.words }

// unanswered says that nobody answered.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

func isJSON(answer *http.Response) bool {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// unreachable says why nobody answered, and what may be done.
func (d destination) unreachable(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var certificate *tls.CertificateVerificationError
	hint := "is it running (faultline up), or is another --server meant?"
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		err, hint = fmt.Errorf("no answer within %s", patience), "see "+d.page("/readyz")+" and its log"
	case errors.As(err, &certificate):
		hint = "is the address right? SSL_CERT_FILE names authorities that this system does not know"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		hint = "it speaks http, not https"
	case strings.Contains(err.Error(), "malformed HTTP"):
		hint = "something else listens there; a correlator is at port 8680 unless its configuration says otherwise"
	}
	return unanswered{fmt.Errorf("ask the correlator at %s%s: %w; %s", d.shown(), d.saidBy(), err, hint)}
}

// refused says what an answer other than 200 means.
func (d destination) refused(answer *http.Response) error {
	var p api.Problem
	told := isJSON(answer) && json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(&p) == nil && p.Title != ""
	words := strings.TrimSuffix(p.Title+": "+p.Detail, ": ")
	switch status := answer.StatusCode; {
	case status == http.StatusUnauthorized:
		return refusal{status, fmt.Sprintf("%s wants to know who asks (401%s). A token is looked for in --token-file, %s, %s%s; keep one with: faultline context set %s --server %s --token-file FILE",
			d.shown(), after(": ", words), bearer.FileVariable, bearer.Variable, d.tokenPlace(), d.nameOr("NAME"), d.shown())}
	case status == http.StatusForbidden:
		return refusal{status, fmt.Sprintf("%s knows who asks, and does not allow it (403%s)", d.shown(), after(": ", words))}
	case status == http.StatusServiceUnavailable && told:
		return refusal{status, fmt.Sprintf("the correlator at %s cannot answer now (503): %s; %s says what it waits for", d.shown(), words, d.page("/readyz"))}
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return refusal{status, fmt.Sprintf("what answers at %s finds no correlator behind it (%s)", d.shown(), answer.Status)}
	case status == http.StatusNotFound && (!told || p.Title == http.StatusText(status)):
		return d.somethingElse(answer)
	case !told:
		return refusal{status, fmt.Sprintf("%s answered %s, and not as a correlator does; is the address right%s?", d.shown(), answer.Status, d.saidBy())}
	default:
		return refusal{status, words}
	}
}

// somethingElse says that whoever answers is no correlator.
func (d destination) somethingElse(answer *http.Response) error {
	kind := answer.Header.Get("Content-Type")
	if kind == "" {
		kind = "nothing"
	}
	return refusal{answer.StatusCode, fmt.Sprintf("something else than a correlator answers at %s%s (%s to %s, %s); a correlator is at port 8680 unless its configuration says otherwise",
		d.shown(), d.saidBy(), answer.Status, answer.Request.URL.Path, kind)}
}

// shown is the address without its password.
func (d destination) shown() string { return redacted(d.address) }

func redacted(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return address
}

// saidBy names what chose the address, where that is not on the command line.
func (d destination) saidBy() string {
	switch {
	case d.Name != "":
		return fmt.Sprintf(" (context %s, %s)", d.Name, d.because)
	case d.because == serverVariable:
		return " (" + serverVariable + ")"
	}
	return ""
}

func (d destination) page(path string) string { return strings.TrimSuffix(d.shown(), "/") + path }

func (d destination) nameOr(name string) string {
	if d.Name != "" {
		return d.Name
	}
	return name
}

// tokenPlace is where the context has its token.
func (d destination) tokenPlace() string {
	switch {
	case d.Name == "":
		return " and the token_file of a context (none is in use)"
	case d.TokenFile == "":
		return fmt.Sprintf(" and the token_file of context %s (it has none)", d.Name)
	}
	if _, err := os.Stat(d.TokenFile); err != nil {
		return fmt.Sprintf(" and %s of context %s (it cannot be read)", d.TokenFile, d.Name)
	}
	return fmt.Sprintf(" and %s of context %s", d.TokenFile, d.Name)
}

func after(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
