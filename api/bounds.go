package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// bound is how long a value may be, in characters, as the description says it.
type bound struct {
	name, value string
	most        int
}

// within refuses the first value that is longer than it may be.
func within(bounds ...bound) error {
	for _, b := range bounds {
		if utf8.RuneCountInString(b.value) > b.most {
			return invalid(b.name, fmt.Sprintf("is longer than %d characters", b.most))
		}
	}
	return nil
}

// parsed refuses a query that cannot be read whole: without the part that is mangled it would be another question, most often a
// wider one.
func parsed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil && strings.HasPrefix(r.URL.Path, "/api/v1/") {
			return invalid("query", "cannot be read: write % as %25, ; as %3B, and any other byte as % and two hexadecimal digits")
		}
		return next(c)
	}
}

// bodyParam reads a body: one JSON object of known properties. What is wrong is told in JSON's words, not in this program's.
func bodyParam(c echo.Context, into any) error {
	from := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxForwarded))
	from.DisallowUnknownFields()
	err := from.Decode(into)
	if err == nil {
		if _, more := from.Token(); more == io.EOF { //nolint:errorlint // a decoder gives it as it is
			return nil
		}
		return invalid("body", "has something behind its object")
	}
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	unknown, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &large):
		return err
	case errors.As(err, &kind) && kind.Field == "":
		return invalid("body", "is no object, but of JSON's "+jsonKind(kind.Value))
	case errors.As(err, &kind):
		return invalid("body", fmt.Sprintf("has %q, which is a %s, as a %s", kind.Field, wanted(kind.Type), jsonKind(kind.Value)))
	case errors.As(err, &syntax):
		return invalid("body", fmt.Sprintf("is no JSON from byte %d on", syntax.Offset))
	case isUnknown:
		return invalid("body", "has the unknown property "+unknown)
	}
	return invalid("body", "is empty, or not whole")
}

// jsonKind is a kind of value, of what a decoder says of one ("number 12").
func jsonKind(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	return kind
}

func wanted(t reflect.Type) string {
	if t.Kind() == reflect.Bool {
		return "boolean"
	}
	return "string"
}
