package rest_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

func TestWhoMayWhat(t *testing.T) {
	s := storetest.Open(t, filepath.Join(t.TempDir(), "p.db"), store.Options{})
	var tokens []access.Token
	bearer := map[string]string{}
	for _, role := range []access.Role{access.Viewer, access.Operator, access.Admin} {
		secret, one := access.NewToken(role.String(), role, time.Time{})
		tokens, bearer[role.String()] = append(tokens, one), "Bearer "+secret
	}
	gone, old := access.NewToken("gone", access.Admin, time.Now().Add(-time.Second))
	limited, blue := access.NewToken("blue", access.Admin, time.Time{}, "blue")
	gate, err := access.Open(access.Config{Tokens: append(tokens, old, blue)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	b := &bench{t: t, store: s, control: rest.NewControl(control.New(s, time.Minute), recovery.New(s, recovery.DefaultConfig(), time.Minute), gate, nil, log)}
	f := func(method, path, body string, viewer, operator, admin int) {
		t.Helper()
		for who, want := range map[string]int{"viewer": viewer, "operator": operator, "admin": admin} {
			w := b.call(b.control, method, path, body, "Authorization", bearer[who])
			if w.Code != want {
				t.Fatalf("%s: %s %s: %d %s, want %d", who, method, path, w.Code, w.Body, want)
			}
		}
		w := b.call(b.control, method, path, body)
		if b.want(w, 401, "token_missing"); !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer ") {
			t.Fatal(w.Header())
		}
		b.want(b.call(b.control, method, path, body, "Authorization", "Bearer "+gone), 401, "token_expired")
		b.want(b.call(b.control, method, path, body, "Authorization", "Bearer "+limited), 403, "tenant_limited")
	}
	f("GET", "/v1/allocations", "", 200, 200, 200)
	f("GET", "/v1/recovery/stuck", "", 200, 200, 200)
	f("GET", "/v1/recovery/actions", "", 200, 200, 200)
	f("GET", "/v1/audit", "", 200, 200, 200)
	f("POST", "/v1/allocations", `{}`, 403, 400, 400)
	f("POST", "/v1/nodes", `{}`, 403, 403, 400)
	f("POST", "/v1/nodes/n-1/repair", `{}`, 403, 403, 404)
	for _, a := range recovery.Actions() {
		want := map[access.Role][3]int{access.Operator: {403, 404, 404}, access.Admin: {403, 403, 404}}[a.Role]
		f("POST", "/v1/recovery/"+string(a.Of)+"/x-1/"+a.Name, `{"reason":"x"}`, want[0], want[1], want[2])
	}
	f("POST", "/v1/recovery/allocations/x-1/no-such-thing", `{"reason":"x"}`, 404, 404, 404)
	as := func(who string) []string { return []string{"Authorization", bearer[who]} }
	b.want(b.call(b.control, "POST", "/v1/recovery/nodes/n-1/fence", `{"reason":"x","actor":"admin"}`, as("operator")...), 403, "actor_mismatch")

	// The audit log says who was turned away; of strangers only so many rows are kept.
	rows := func(query string) []rest.AuditEntry {
		var page rest.AuditLog
		_ = json.Unmarshal(b.call(b.control, "GET", "/v1/audit?limit=500&"+query, "", as("viewer")...).Body.Bytes(), &page)
		return page.Entries
	}
	if n := len(rows("outcome=denied&actor=viewer")); n != len(recovery.Actions()) {
		t.Fatal(n)
	}
	if n := len(rows("outcome=denied&actor=unknown")); n == 0 || n > 10 {
		t.Fatal(n)
	}
	if n := len(rows("outcome=denied&actor=gone")); n == 0 { // it is known whose the token was
		t.Fatal(n)
	}
	for _, row := range rows("") {
		text, _ := json.Marshal(row)
		for _, secret := range bearer {
			if strings.Contains(string(text), strings.TrimPrefix(secret, "Bearer ")) {
				t.Fatalf("a token is in the audit log: %s", text)
			}
		}
	}

	// Where nobody is asked, a web page of another site is turned away.
	open := newBench(t, store.Options{})
	open.want(open.call(open.control, "POST", "/v1/recovery/nodes/n-1/fence", `{"reason":"x","actor":"k"}`, "Origin", "https://evil.example"), http.StatusForbidden, "foreign_origin")
}

func FuzzRecovery(f *testing.F) {
	b := newBench(f, store.Options{})
	b.strand("a-1")
	f.Add("allocations", "a-1", "force-cleanup", `{"actor":"kim","reason":"x","runtime_verified_absent":true,"evidence":"e","verdict":{"layer":"node"}}`, "k-1")
	f.Add("nodes", "n-a-1", "fence", `{"actor":"kim","reason":"x","dry_run":true}`, "")
	f.Add("messages", "ob-1", "skip", `{"reason":"\ud800","actor":"a"}`, "\x00")
	f.Add("allocations", "%00", "cancel", `{"reason":{"a":[1e999]},"Reason":""}`, "k")
	f.Fuzz(func(t *testing.T, of, id, action, body, key string) {
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/recovery/"+of+"/"+id+"/"+action, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set(rest.HeaderIdempotencyKey, key)
		w := httptest.NewRecorder()
		b.control.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%s: %d %s", r.URL, w.Code, w.Body)
		}
		var p rest.Problem
		if w.Code >= 400 && w.Code != http.StatusMethodNotAllowed && (json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Status != w.Code || p.Detail == "") {
			t.Fatalf("%s: %d is no problem document: %s", r.URL, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && !strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{") {
			t.Fatalf("%q was taken", body)
		}
	})
}
