package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/addon"
	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/provisioner"
)

const provisionerProgram = "faultline-provisioner"

// planCommand is how `faultline up` learns what to run beside the product. It is not for people.
func planCommand() *cobra.Command {
	return &cobra.Command{
		Use: "plan", Hidden: true, Args: cobra.NoArgs,
		Short: "Say which processes faultline up is to run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			if _, ok, err := addon.Beside(provisionerProgram); err != nil || !ok {
				return errors.Join(err, fmt.Errorf("%s is not beside %s: build all programs with make build", provisionerProgram, filepath.Base(self)))
			}
			return addon.Answer(cmd.InOrStdin(), cmd.OutOrStdout(), func(p addon.Product) (addon.Plan, error) { return plan(p, filepath.Dir(self)) })
		},
	}
}

// labSection is a configuration of `faultline up`, of which the lab reads its own section.
type labSection struct {
	Lab    lab.Config           `yaml:"lab"`
	Others map[string]yaml.Node `yaml:",inline"`
}

// Validate names the key that is wrong.
func (s labSection) Validate() error {
	if err := s.Lab.Validate(); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	return nil
}

// plan is the provisioner, at the pace of the lab, and the simulated platform. It writes their configurations into the
// folder of the run, where they can be looked at. programs is the folder in which our own programs lie.
func plan(p addon.Product, programs string) (addon.Plan, error) {
	section, err := config.Load(p.Config, labSection{Lab: lab.DefaultConfig()})
	if err != nil {
		return addon.Plan{}, err
	}
	platform, controller := besideProduct(section.Lab, p)
	if err := os.MkdirAll(platform.Data, 0o700); err != nil {
		return addon.Plan{}, err
	}
	files := map[string]any{"provisioner.yaml": controller, "lab.yaml": platform}
	for name, content := range files {
		if err := write(filepath.Join(p.Data, name), content); err != nil {
			return addon.Plan{}, err
		}
	}
	out := addon.Plan{Addresses: addresses(platform, controller), Processes: []addon.Process{
		{Name: "provisioner", Ready: "http://" + controller.Ops + "/readyz", Command: []string{filepath.Join(programs, provisionerProgram), "--config", filepath.Join(p.Data, "provisioner.yaml")}},
		{Name: "lab", Command: []string{filepath.Join(programs, "faultline-lab"), "run", "--config", filepath.Join(p.Data, "lab.yaml")}, Finite: platform.Count > 0 || platform.Duration > 0},
	}}
	if platform.LogFiles {
		out.NodeLogs = filepath.Join(platform.Data, "nodes")
	}
	return out, nil
}

// besideProduct has the lab and its provisioner speak to each other and to the product.
func besideProduct(platform lab.Config, p addon.Product) (lab.Config, provisioner.Config) {
	platform.Data = filepath.Join(p.Data, "lab")
	platform.Provisioner, platform.NodeAPI = "http://"+p.Provisioner.Control, p.Provisioner.Node
	platform.Telemetry.Endpoint = p.OTLP
	controller := lab.ProvisionerConfig(platform)
	controller.Control, controller.Node, controller.Ops = p.Provisioner.Control, p.Provisioner.Node, p.Provisioner.Ops
	controller.Telemetry.Endpoint = p.OTLP
	controller.Recovery.Verdicts, controller.Recovery.VerdictsTokenFile = p.Correlator, p.Token // whoever recovers by hand has its verdict on record
	if platform.Export != "" {                                                                  // the run is the lab's and the provisioner's telemetry
		controller.Telemetry.File = platform.Export + ".provisioner"
	}
	return platform, controller
}

// addresses are those that must be free, by the keys that set them in the configuration of `faultline up`.
func addresses(platform lab.Config, controller provisioner.Config) map[string]string {
	all := map[string]string{
		"provisioner.control": controller.Control, "provisioner.node": controller.Node, "provisioner.ops": controller.Ops,
		"lab.ingress": platform.Ingress, "lab.api": platform.API, "lab.auth": platform.Auth,
	}
	if platform.ProvisionerFaults != "" {
		all["lab.provisioner_faults"] = platform.ProvisionerFaults
	}
	if platform.Providers {
		all["lab.hub"], all["lab.aap"], all["lab.eda"] = platform.Hub, platform.AAP, platform.EDA
	}
	return all
}

func write(path string, content any) error {
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}
