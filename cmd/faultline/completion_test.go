package main

import (
	"net"
	"strings"
	"testing"
	"time"
)

func TestCompletion(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{"/api/v1/allocations": givenText(t, "allocations"), "/api/v1/incidents": givenText(t, "incidents")})
	if _, _, err := say(t, "context", "set", "prod", "--server", f.url); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"verdict|a-": "a-7 a-3 a-4 a-5", "timeline|gpu": "gpu-17", "events|割": "割り当て-2", "verdict|a-7|": "", "watch|verdict|gpu-": "gpu-17",
		"list|--state|rel": "releasing release_failed released", "list|--layer|node": "node_agent node", "stuck|--layer|c": "client cert", "list|--context|": "prod", "context|use|": "prod",
		"list|--outcome|u": "undetermined", "list|-o|": "table wide json id", "search|--severity|f": "fatal", "list|--color|a": "auto always", "timeline|x|--layer|db": "db",
	} {
		out, _, err := say(t, append([]string{"__complete"}, strings.Split(args, "|")...)...)
		words, _, _ := strings.Cut(out, ":")
		var got []string
		for _, line := range strings.Fields(words) {
			if prefix := args[strings.LastIndex(args, "|")+1:]; strings.HasPrefix(line, prefix) {
				got = append(got, line)
			}
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q %v, want %q", args, got, err, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out, _, err := say(t, "completion", shell); err != nil || !strings.Contains(out, "faultline") {
			t.Errorf("%s: %v", shell, err)
		}
	}
}

// A server that is away, or does not answer, costs a second at most and says nothing.
func TestCompletionIsSilentWithoutAServer(t *testing.T) {
	alone(t)
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	for _, server := range []string{"http://127.0.0.1:1", "http://" + mute.Addr().String(), "nonsense"} {
		begun := time.Now()
		out, _, err := say(t, "__complete", "verdict", "--server", server, "a-")
		if took := time.Since(begun); err != nil || !strings.HasPrefix(out, ":") || took > 3*time.Second {
			t.Errorf("%s: %v %q after %s", server, err, out, took)
		}
	}
}
