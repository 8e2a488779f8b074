package main

import (
	"github.com/faultline-io/faultline/internal/supervise"
)

// labParts are the provisioner and the simulated platform.
func (c upConfig) labParts(_ func(string) string, _ func(name, ready string, command ...string) supervise.Part) ([]supervise.Part, error) {
	return nil, nil
}
