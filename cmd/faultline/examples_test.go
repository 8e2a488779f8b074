package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// The files in examples/ are judged as the lab meant them.
func TestExamples(t *testing.T) {
	for file, want := range map[string]string{
		"healthy": "none", "cancel": "none", "cert-expired": "attributed cert.expired", "no-backend": "attributed ingress.no_backend",
		"refused": "attributed api_auth.policy", "agent-silent": "attributed node_agent.silent",
	} {
		t.Run(file, func(t *testing.T) {
			var out bytes.Buffer
			a := analysis{look: look{json: true}}
			if err := a.run([]string{filepath.Join("..", "..", "examples", file+".jsonl")}, nil, &out, &out); err != nil {
				t.Fatal(err)
			}
			var answer correlator.Answer
			if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if len(answer.Allocations) != 1 || ruling(answer.Allocations[0].Verdict) != want {
				t.Errorf("%d allocations, %s, want %s", len(answer.Allocations), ruling(answer.Allocations[0].Verdict), want)
			}
		})
	}
}
