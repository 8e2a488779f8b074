package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// deepest nesting that is read; nothing that anybody has to say here is deeper.
const deepest = 16

// read decodes one JSON object. What could be understood in two ways is refused: keys that nobody knows,
// keys that come twice, anything after the object, text that is no UTF-8.
func read(c echo.Context, into any) error {
	if kind := c.Request().Header.Get(echo.HeaderContentType); kind != "" {
		media, _, err := mime.ParseMediaType(kind)
		if err != nil || media != echo.MIMEApplicationJSON && !strings.HasSuffix(media, "+json") {
			return invalid{http.StatusUnsupportedMediaType, fmt.Sprintf("content type: application/json is wanted, not %q", kind)}
		}
	}
	if coding := c.Request().Header.Get(echo.HeaderContentEncoding); coding != "" && coding != "identity" {
		return invalid{http.StatusUnsupportedMediaType, fmt.Sprintf("content encoding: none is taken, not even %q", coding)}
	}
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		var limit *echo.HTTPError
		if errors.As(err, &limit) {
			return invalid{limit.Code, "body: longer than " + maxBody}
		}
		return bad("body: %v", err)
	}
	return decode(body, into)
}

func decode(body []byte, into any) error {
	if !utf8.Valid(body) {
		return bad("body: no UTF-8")
	}
	if err := unambiguous(body); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return bad("body: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// unambiguous wants exactly one JSON object whose keys are all different, however they are written.
func unambiguous(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var open []map[string]bool // keys seen in each object that is open; nil for an array
	key := false               // the next token is a key
	for n := 0; ; n++ {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return bad("body: is empty, and a JSON object is wanted")
		case errors.Is(err, io.EOF):
			return bad("body: ends in the middle")
		case err != nil:
			return bad("body: %v", err)
		case n == 0 && token != json.Delim('{'):
			return bad("body: a JSON object is wanted")
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if name, ok := token.(string); ok && key {
				seen, folded := open[len(open)-1], strings.ToLower(name)
				if seen[folded] {
					return bad("body: key %q comes twice", name)
				}
				seen[folded], key = true, false
				continue
			}
		}
		if len(open) > deepest {
			return bad("body: nested too deep")
		}
		if len(open) == 0 {
			return nothingElse(d)
		}
		key = open[len(open)-1] != nil
	}
}

func nothingElse(d *json.Decoder) error {
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("body: more than one JSON value")
	}
	return nil
}
