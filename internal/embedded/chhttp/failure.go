package chhttp

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// code is one of ClickHouse's error codes with its name and the status that goes with it.
type code struct {
	number int
	name   string
	status int
}

// The codes that the interface raises itself; the numbers are ClickHouse's (src/Common/ErrorCodes.cpp).
var (
	badArguments     = code{36, "BAD_ARGUMENTS", http.StatusBadRequest}
	notImplemented   = code{48, "NOT_IMPLEMENTED", http.StatusNotImplemented}
	syntaxError      = code{62, "SYNTAX_ERROR", http.StatusBadRequest}
	timeoutExceeded  = code{159, "TIMEOUT_EXCEEDED", http.StatusRequestTimeout}
	readonly         = code{164, "READONLY", http.StatusForbidden}
	tooManyQueries   = code{202, "TOO_MANY_SIMULTANEOUS_QUERIES", http.StatusServiceUnavailable}
	networkError     = code{210, "NETWORK_ERROR", http.StatusBadRequest}
	cannotDecompress = code{271, "CANNOT_DECOMPRESS", http.StatusBadRequest}
	tooLarge         = code{307, "TOO_MANY_BYTES", http.StatusRequestEntityTooLarge}
	unknownFault     = code{chdb.CodeUnknown, "UNKNOWN_EXCEPTION", http.StatusInternalServerError}
	accessDenied     = code{497, "ACCESS_DENIED", http.StatusForbidden}
	authFailed       = code{516, "AUTHENTICATION_FAILED", http.StatusForbidden}
)

// refusal is an exception of our own in the engine's form, which is what drivers parse.
func refusal(c code, why string) error {
	return &chdb.Exception{Code: c.number, Text: fmt.Sprintf("Code: %d. DB::Exception: %s. (%s)", c.number, why, c.name)}
}

// asException brings any error into the engine's form.
func asException(err error) *chdb.Exception {
	var e *chdb.Exception
	if errors.As(err, &e) {
		return e
	}
	c := unknownFault
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c = timeoutExceeded
	}
	errors.As(refusal(c, err.Error()), &e)
	return e
}

// status is the HTTP status that ClickHouse gives to an exception.
func status(e *chdb.Exception) int {
	switch e.Code {
	case 47, 36, 62, 41, 43, 44, 50, 53, 6, 27, 72, 115, 117, 456, 457, networkError.number, cannotDecompress.number:
		return http.StatusBadRequest
	case 60, 81, 46, 34:
		return http.StatusNotFound
	case authFailed.number, accessDenied.number, readonly.number:
		return http.StatusForbidden
	case timeoutExceeded.number:
		return http.StatusRequestTimeout
	case tooManyQueries.number:
		return http.StatusServiceUnavailable
	case notImplemented.number:
		return http.StatusNotImplemented
	case tooLarge.number:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusInternalServerError
}

// message is an exception's text as a server words it, the version at its end.
func message(e *chdb.Exception, version string) string {
	return strings.TrimSpace(e.Text) + " (version " + version + " (embedded))"
}
