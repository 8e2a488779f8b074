package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api"
)

func TestBodiesAreRefusedInTheirOwnWords(t *testing.T) {
	for body, want := range map[string]string{
		"":                                  "body is empty, or not whole",
		`{"action":"retry"`:                 "body is empty, or not whole",
		"x":                                 "body is no JSON from byte 1 on",
		`[]`:                                "body is no object, but of JSON's array",
		`{"action":12}`:                     `body has "action", which is a string, as a number`,
		`{"dry_run":"yes"}`:                 `body has "dry_run", which is a boolean, as a string`,
		`{"action":"retry","force":true}`:   `body has the unknown property "force"`,
		`{"action":"retry"}{"action":"no"}`: "body has something behind its object",
		`{"action":"retry"} x`:              "body has something behind its object",
		`{"action":"retry"} `:               "",
		`null`:                              "", // nothing is asked for; what is missing is told later
	} {
		c := echo.New().NewContext(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)), httptest.NewRecorder())
		have := ""
		if err := api.ReadRecoveryRequest(c); err != nil {
			have = err.Error()
		}
		if have != want {
			t.Errorf("%s: %q, want %q", body, have, want)
		}
	}
}

func TestAMangledQueryIsNotAWiderOne(t *testing.T) {
	e := echo.New()
	for query, refused := range map[string]bool{"": false, "?state=failed": false, "?state=%": true, "?state=%zz": true, "?a;b": true, "?limit": false, "?%20=&&": false} {
		c := e.NewContext(httptest.NewRequest(http.MethodGet, "/api/v1/allocations"+query, nil), httptest.NewRecorder())
		if err := api.Parsed(func(echo.Context) error { return nil })(c); (err != nil) != refused {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestValuesAreAsLongAsDescribed(t *testing.T) {
	for most, value := range map[int]string{0: "", 3: "üöä", 4: "abcd"} {
		if err := api.Within("x", value, most); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
	if err := api.Within("x", "üöä", 2); err == nil || err.Error() != "x is longer than 2 characters" {
		t.Error(err)
	}
}
