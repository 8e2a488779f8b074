package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContexts(t *testing.T) {
	alone(t)
	one, two := newFake(t, map[string]string{"/api/v1/allocations": givenText(t, "allocations")}), newFake(t, map[string]string{"/api/v1/allocations": `{"allocations":[]}`})
	must := func(args ...string) string {
		t.Helper()
		out, notes, err := say(t, args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out + notes
	}
	fails := func(want string, args ...string) {
		t.Helper()
		if _, _, err := say(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	contains(t, must("context", "list"), "no contexts in", "faultline context set NAME")
	fails("is a new context; where is its server?", "context", "set", "prod", "--token-file", "x")
	fails(`--server: "localhost:8680" is no http URL`, "context", "set", "prod", "--server", "localhost:8680")
	contains(t, must("context", "set", "prod", "--server", one.url, "--token-file", "tokens/prod", "--provisioner", "https://p.example.com"), "the current context is prod")
	contains(t, must("context", "set", "lab", "--server", two.url), "the current context is prod")

	path, err := contextPath()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	contains(t, must("list"), "a-7")
	contains(t, must("list", "--context", "lab"), "no allocations")
	contains(t, must("list", "--context", "prod", "--server", two.url), "no allocations")
	t.Setenv(contextVariable, "lab")
	contains(t, must("list"), "no allocations")
	t.Setenv(serverVariable, one.url)
	contains(t, must("list"), "a-7")
	contains(t, must("list", "--context", "lab"), "no allocations")
	t.Setenv(serverVariable, "")
	t.Setenv(contextVariable, "")

	contains(t, must("context", "use", "lab"), "lab is asked from now on")
	contains(t, must("context", "list"), "*        lab   "+two.url, "         prod  "+one.url)
	contains(t, must("context", "show"), "context      lab", "because of   current in "+path)
	contains(t, must("context", "set", "lab", "--provisioner", "http://127.0.0.1:1"), "kept")
	if got := must("context", "list", "-o", "json"); !strings.Contains(got, `"provisioner": "http://127.0.0.1:1"`) || !strings.Contains(got, `"server": "`+two.url) {
		t.Error(got)
	}
	fails("ask the provisioner at http://127.0.0.1:1", "recover", "stuck")
	fails(`there is no context "porduction"`, "context", "use", "porduction")
	fails(`there is no context "prdo"; did you mean prod?`, "list", "--context", "prdo")
	contains(t, must("context", "delete", "lab"), "forgotten")
	fails("no context \"lab\"", "context", "delete", "lab")
	contains(t, must("context", "show"), defaultServer, "nothing says otherwise")
	contains(t, must("context", "use", "prod"), "prod")
	contains(t, must("context", "set", "prod", "--provisioner", ""), "kept")
	fails("context prod names no provisioner", "recover", "stuck")
}

// A token is for the server of its context alone.
func TestContextTokenFile(t *testing.T) {
	alone(t)
	path, err := contextPath()
	if err != nil {
		t.Fatal(err)
	}
	f := func(text, server, name, want string) {
		t.Helper()
		if err := writeWhole(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		q := question{server: server, context: name}
		if got := q.contextTokenFile(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const text = "current: a\ncontexts:\n  - {name: a, server: 'https://a', token_file: a.token}\n  - {name: b, server: 'https://b', token_file: /b.token}\n  - {name: c, server: 'https://c'}\n"
	f(text, "", "", filepath.Join(filepath.Dir(path), "a.token"))
	f(text, "", "b", "/b.token")
	f(text, "", "c", "")
	f(text, "", "d", "")
	f(text, "https://elsewhere", "", "")
	f(text, "https://elsewhere", "b", "")
	t.Setenv(serverVariable, "https://elsewhere")
	f(text, "", "", "")
}

// What is wrong with the file is said by file and line, and a file that cannot be read is not overwritten; what stands in
// it of the environment stays as it is.
func TestContextFileIsRead(t *testing.T) {
	alone(t)
	path, err := contextPath()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"contexts:\n  - {name: a, server: 'http://a'}\nsurrent: a\n":               path + `:3: unknown key "surrent"`,
		"contexts:\n  - {name: a, sever: 'http://a'}\n":                            path + `:2: unknown key "sever"`,
		"current: b\ncontexts: [{name: a, server: 'http://a'}]\n":                  `current: there is no context "b"`,
		"contexts: [{name: a, server: 'http://a'}, {name: a, server: 'http://a'}]": `contexts[1].name: "a" stands there twice`,
		"contexts: [{name: a, server: nowhere}]":                                   `contexts[0].server: "nowhere" is no http URL`,
		"contexts: [{name: a, server: 'http://a', provisioner: x}]":                "contexts[0].provisioner",
		"contexts: [{server: 'http://a'}]":                                         "contexts[0].name: is empty",
	} {
		if err := writeWhole(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"list"}, {"context", "list"}, {"context", "set", "z", "--server", "http://z"}} {
			if _, _, err := say(t, args...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, want %q", args, err, want)
			}
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != text {
			t.Errorf("%q %v", have, err)
		}
	}
	t.Setenv("SOME_SERVER", "http://127.0.0.1:1")
	if err := writeWhole(path, []byte("contexts: [{name: a, server: '${env:SOME_SERVER}'}]")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := say(t, "context", "use", "a"); err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile(path); err != nil || !strings.Contains(string(have), "${env:SOME_SERVER}") {
		t.Errorf("%q %v", have, err)
	}
	if _, _, err := say(t, "list"); err == nil || !strings.Contains(err.Error(), "at http://127.0.0.1:1 (context a") {
		t.Error(err)
	}
}
