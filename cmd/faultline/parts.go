package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/addon"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/supervise"
)

// parts lists the processes in the order in which they start: whoever receives before whoever sends, so those of the lab
// come last.
func (c upConfig) parts(dsn string, lab addon.Plan, alerts alerting) ([]supervise.Part, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	env := []string{schema.Variable + "=" + dsn, "FAULTLINE_DATA=" + c.DataDir}
	part := func(name, ready string, command ...string) supervise.Part {
		return supervise.Part{
			Name: name, Command: command, Env: env, Log: filepath.Join(c.DataDir, "log", name+".log"), Ready: ready,
			Patience: time.Minute, Grace: 20 * time.Second,
		}
	}
	var out []supervise.Part
	if os.Getenv(schema.Variable) == "" {
		path, err := c.write("store.yaml", map[string]any{"store": map[string]any{"listen": c.Store, "data_dir": filepath.Join(c.DataDir, "store")}})
		if err != nil {
			return nil, err
		}
		out = append(out, part("store", "http://"+c.Store+"/readyz", bin("faultline"), "store", "--config", path))
	}
	judge := map[string]any{"listen": c.Correlator, "profile": c.Profile, "access": map[string]any{"token_file": c.tokensFile()}}
	if c.RunLab {
		judge["recovery"] = map[string]any{"provisioner": "http://" + c.Provisioner.Control}
	}
	if c.Retention != nil {
		judge["retention"] = c.Retention
	}
	if notify := alerts.notify(); notify != nil {
		judge["notify"] = notify
		one, err := c.alertmanagerPart(part("alertmanager", ""), alerts)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	correlator, err := c.write("correlator.yaml", judge)
	if err != nil {
		return nil, err
	}
	out = append(out,
		part("collector", "http://"+c.CollectorHealth+"/", append([]string{bin("faultline-collector")}, c.collectorArguments()...)...),
		part("correlator", c.server()+"/readyz", bin("faultline-correlator"), "--config", correlator))
	if lab.NodeLogs != "" {
		out = append(out, c.agentPart(part("agent-collector", ""), bin("faultline-collector"), lab.NodeLogs))
	}
	if alerts.prometheus != "" {
		one, err := c.prometheusPart(part("prometheus", ""), alerts, lab.NodeLogs != "")
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	for _, p := range lab.Processes {
		one := part(p.Name, p.Ready, p.Command...)
		one.Env, one.Finite = append(slices.Clone(env), p.Env...), p.Finite
		out = append(out, one)
	}
	return out, nil
}

// collectorArguments lay this run's addresses over the Collector's own configuration of one host.
func (c upConfig) collectorArguments() []string {
	set := func(key, value string) []string { return []string{"--config", "yaml:" + key + ": " + value} }
	args := []string{"--config", "embedded:lab"}
	if c.Record {
		args = append(args, "--config", "embedded:record")
	}
	args = append(args, set("receivers::otlp::protocols::grpc::endpoint", c.OTLP.GRPC)...)
	args = append(args, set("receivers::otlp::protocols::http::endpoint", c.OTLP.HTTP)...)
	args = append(args, set("extensions::health_check::endpoint", c.CollectorHealth)...)
	if c.Profile != "" {
		args = append(args, set("processors::identity::profile", c.Profile)...)
		args = append(args, set("exporters::faultline_clickhouse::profile", c.Profile)...)
	}
	return append(args, metricsArguments(c.CollectorMetrics)...)
}

// metricsArguments have a Collector serve its own metrics at an address.
func metricsArguments(address string) []string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	return []string{"--config", fmt.Sprintf("yaml:{service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: %q, port: %s}}}}]}}}}", host, port)}
}

// agentPart is the agent Collector: it reads what nodes write to their disks, and sends it to the other one.
func (c upConfig) agentPart(p supervise.Part, program, nodes string) supervise.Part {
	p.Command = append([]string{program, "--config", "embedded:agent", "--config", "embedded:nodes", "--config", "yaml:extensions::health_check::endpoint: " + c.AgentHealth},
		metricsArguments(c.AgentMetrics)...)
	p.Ready = "http://" + c.AgentHealth + "/"
	p.Env = append(slices.Clone(p.Env), "FAULTLINE_GATEWAY=http://"+c.OTLP.HTTP, "FAULTLINE_NODES="+nodes, "FAULTLINE_NODE_ID=", "FAULTLINE_NODE_INSTANCE_ID=")
	return p
}

// write keeps a part's configuration in the data folder, where it can be looked at.
func (c upConfig) write(name string, content any) (string, error) {
	text, err := yaml.Marshal(content)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.DataDir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}

// programs finds the other programs beside this one.
func programs() (func(string) string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	folder := filepath.Dir(self)
	for _, name := range []string{"faultline-collector", "faultline-correlator"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return nil, fmt.Errorf("%s is not beside %s: build all programs with make build", name, filepath.Base(self))
		}
	}
	return func(name string) string { return filepath.Join(folder, name) }, nil
}
