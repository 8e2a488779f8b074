package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/access"
)

// nobodyElseIsAnswered asks a running correlator as a stranger, and as somebody with another terminal on this machine.
func nobodyElseIsAnswered(t *testing.T, bin string, cfg upConfig) {
	t.Helper()
	token, err := os.ReadFile(cfg.tokenFile())
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]int{"": http.StatusUnauthorized, "Bearer flt_nobody": http.StatusUnauthorized, "Bearer " + strings.TrimSpace(string(token)): http.StatusOK} {
		for _, path := range []string{"/api/v1/allocations", "/metrics"} {
			r, err := http.NewRequest(http.MethodGet, cfg.server()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", header)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s with %.12q: %d, want %d", path, header, answer.StatusCode, want)
			}
		}
	}
	if out, err := exec.Command(filepath.Join(bin, "faultline"), "list", "--server", cfg.server()).CombinedOutput(); err != nil {
		t.Errorf("list: %v\n%s", err, out)
	}
	alone := exec.Command(filepath.Join(bin, "faultline"), "list", "--server", cfg.server())
	alone.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	if out, err := alone.CombinedOutput(); err == nil || !strings.Contains(string(out), "token_missing") {
		t.Errorf("list without a token: %v\n%s", err, out)
	}
}

func TestTheTokenOfUp(t *testing.T) {
	c := defaultUpConfig()
	c.DataDir = t.TempDir()
	setUp := func() string {
		t.Helper()
		if err := c.setUpAccess(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{c.tokenFile(), c.tokensFile()} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		text, err := os.ReadFile(c.tokenFile())
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	is := func(token, subject string) {
		t.Helper()
		g, err := access.Open(access.Config{TokenFile: c.tokensFile()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		if p, _ := g.Admit(r, access.Viewer); p.Subject != subject || subject == upTokenName && (p.Role != access.Admin || p.Tenants != nil) {
			t.Errorf("%+v, want %q", p, subject)
		}
	}
	first := setUp()
	is(first, upTokenName)
	if again := setUp(); again != first {
		t.Error("the token changes from start to start")
	}
	text, err := os.ReadFile(c.tokensFile())
	if err != nil || strings.Contains(string(text), first) {
		t.Errorf("%s, %v", text, err)
	}

	// What an operator adds stays, also when the token is made anew.
	kims, kim := access.NewToken("kim", access.Viewer, time.Time{}, "blue")
	var list struct {
		Tokens []access.Token `yaml:"tokens"`
	}
	if err := yaml.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	list.Tokens = append(list.Tokens, kim)
	if text, err = yaml.Marshal(list); err == nil {
		err = os.WriteFile(c.tokensFile(), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.tokenFile()); err != nil {
		t.Fatal(err)
	}
	second := setUp()
	is(second, upTokenName)
	is(kims, "kim")
	is(first, "")
	if err := os.Remove(c.tokensFile()); err != nil {
		t.Fatal(err)
	}
	if third := setUp(); third != second {
		t.Error("the token is what counts")
	}
	is(second, upTokenName)

	for _, path := range []string{c.tokenFile(), c.tokensFile()} {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := c.setUpAccess(); err == nil || !strings.Contains(err.Error(), "others may read it") {
			t.Error(err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.tokensFile(), []byte("tokens: [{nam: x}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.setUpAccess(); err == nil || !strings.Contains(err.Error(), `unknown key "nam"`) {
		t.Error(err)
	}
}

func TestTheAddressForCommands(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8680": "http://127.0.0.1:8680", "0.0.0.0:1": "http://127.0.0.1:1", ":1": "http://127.0.0.1:1", "[::]:1": "http://127.0.0.1:1", "node:1": "http://node:1",
	} {
		c := defaultUpConfig()
		if c.Correlator = listen; c.server() != want {
			t.Errorf("%s: %s, want %s", listen, c.server(), want)
		}
	}
}

func TestWhereToLookNamesTheToken(t *testing.T) {
	c := defaultUpConfig()
	c.DataDir = "/data"
	var out strings.Builder
	c.whereToLook(&out, alerting{})
	if want := `curl -s -H "Authorization: Bearer $(cat /data/access/token)" http://127.0.0.1:8680/api/v1/allocations`; !strings.Contains(out.String(), want) {
		t.Errorf("%s\nhas no %s", out.String(), want)
	}
}
