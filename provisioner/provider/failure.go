package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what went wrong on the way to a provider; it is the error.type of spans and logs.
type Kind string

// Kinds.
const (
	Unreachable     Kind = "unreachable"      // no connection: name, network, refused, TLS
	TimedOut        Kind = "timeout"          // connected, no answer in time
	Cut             Kind = "connection_lost"  // connected, the answer broke off
	Unauthorized    Kind = "unauthorized"     // 401, 403
	RateLimited     Kind = "rate_limited"     // 429, or 503 with Retry-After
	ServerError     Kind = "server_error"     // 5xx
	Refused         Kind = "refused"          // other 4xx
	NotFound        Kind = "not_found"        // 404
	NotAllowed      Kind = "not_allowed"      // 405
	BadReply        Kind = "bad_reply"        // not what the API promises
	TooLarge        Kind = "reply_too_large"  // beyond the limit
	TemplateMissing Kind = "template_missing" // the provider answered, and has no such template
)

// Failure is the error of a call to a provider.
type Failure struct {
	Op         string // what was asked: "launch job template 7"
	Kind       Kind
	Status     int           // HTTP status, 0 where no answer came
	Detail     string        // the provider's words, cut short; never what was sent
	RetryAfter time.Duration // the provider's wish, 0 for none
	Sent       bool          // the request may have reached the provider
	Err        error         // the cause below, nil where the answer itself is the cause
}

func (f *Failure) Error() string {
	text := f.Op + ": " + string(f.Kind)
	if f.Status != 0 {
		text += fmt.Sprintf(" (status %d)", f.Status)
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Err }

// KindOf is the kind of a Failure in err's chain, "" where there is none.
func KindOf(err error) Kind {
	var f *Failure
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

// Ambiguous reports whether what failed may have been done all the same: the request went out, and the
// answer is no clear no.
func Ambiguous(err error) bool {
	var f *Failure
	if !errors.As(err, &f) {
		return true
	}
	switch f.Kind {
	case TimedOut, Cut, ServerError, BadReply, TooLarge:
		return f.Sent
	}
	return false
}

// RetryAfter is how long the provider wants to be left alone, 0 where it doesn't say.
func RetryAfter(err error) time.Duration {
	var f *Failure
	if errors.As(err, &f) {
		return f.RetryAfter
	}
	return 0
}

// NotSent is the error of a call that was made before the one that matters: whatever failed, that one was not sent.
func NotSent(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		f.Sent = false
	}
	return err
}

// Clip shortens a provider's words to so many bytes.
func Clip(words string, most int) string {
	return strings.ToValidUTF8(words[:min(len(words), most)], "")
}
