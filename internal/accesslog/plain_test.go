package accesslog_test

import (
	"testing"

	"github.com/faultline-io/faultline/internal/accesslog"
)

func TestParsePlain(t *testing.T) {
	for line, want := range map[string]accesslog.Line{
		`GET /v1/allocations 200 9ms`:                          {Method: "GET", Path: "/v1/allocations", Status: 200},
		`"POST /clients HTTP/1.1" 401 "0.006" 179`:             {Method: "POST", Path: "/clients", Status: 401},
		`POST /op-release HTTP/1.1 --> 400 BAD`:                {Method: "POST", Path: "/op-release", Status: 400},
		`GET /allocations/al/status?wait: 504 after`:           {Method: "GET", Path: "/allocations/al/status?wait", Status: 504},
		`POST /v1/allocations tenant=orion 201 3.08s`:          {Method: "POST", Path: "/v1/allocations", Status: 201},
		`access request_id=5e01 POST /v1/x 200 12ms bytes=88`:  {Method: "POST", Path: "/v1/x", Status: 200},
		`GET /v1/x id=h-1 answered 200, 214 bytes after 11 ms`: {Method: "GET", Path: "/v1/x", Status: 200},
		`[access]: peer=10.0.0.2 id=7 GET /v1/x 404`:           {Method: "GET", Path: "/v1/x", Status: 404},
	} {
		if got, ok := accesslog.ParsePlain(line); !ok || got.Method != want.Method || got.Path != want.Path || got.Status != want.Status {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{"", "GET", "GET /", "GET /x took 200 ms", "got /x 200", "GET x 200", "GET /x 99", "GET /x 1000", "PURGE /x 200", "access denied to GET /x 200", "access", "access a=b"} {
		if got, ok := accesslog.ParsePlain(line); ok {
			t.Errorf("%q is read as %+v", line, got)
		}
	}
}

func FuzzParsePlain(f *testing.F) {
	f.Add(`"POST /clients HTTP/1.1" 401 "0.006"`)
	f.Fuzz(func(t *testing.T, line string) {
		if got, ok := accesslog.ParsePlain(line); ok && (got.Status < 100 || got.Status > 599 || got.Path == "" || got.Path[0] != '/') {
			t.Errorf("%q is read as %+v", line, got)
		}
	})
}
