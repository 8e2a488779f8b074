package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	dashboards "github.com/faultline-io/faultline/dashboards/prometheus"
	"github.com/faultline-io/faultline/internal/supervise"
)

// alertsConfig says where Prometheus and Alertmanager listen. They run where they are installed; an empty address leaves one out.
type alertsConfig struct {
	Prometheus   string        `yaml:"prometheus"`
	Alertmanager string        `yaml:"alertmanager"`
	Routes       string        `yaml:"routes"` // Alertmanager's own configuration, a file; empty: routes by owner that lead nowhere
	Every        time.Duration `yaml:"every"`  // between two scrapes, two evaluations, and two looks for incidents
}

// defaultAlerts are ports beside those that packages of Prometheus and Alertmanager take for themselves.
func defaultAlerts() alertsConfig {
	return alertsConfig{Prometheus: "127.0.0.1:9190", Alertmanager: "127.0.0.1:9193", Every: 15 * time.Second}
}

// Validate names the key that is wrong.
func (a alertsConfig) Validate() error {
	var all []error
	for key, address := range map[string]string{"prometheus": a.Prometheus, "alertmanager": a.Alertmanager} {
		if address == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			all = append(all, fmt.Errorf("%s: %w", key, err))
		}
	}
	if a.Every < time.Second {
		all = append(all, fmt.Errorf("every: %s is less than a second", a.Every))
	}
	return errors.Join(all...)
}

// alerting is what of it runs: the programs that were found.
type alerting struct {
	alertsConfig
	prometheus, alertmanager string // programs; empty: not to be run
}

// find looks for the programs, and says which are not there. Debian calls the second prometheus-alertmanager.
func (a alertsConfig) find(out io.Writer) (alerting, error) {
	found := alerting{alertsConfig: a}
	var missing []string
	look := func(address, shown string, names ...string) string {
		if address == "" {
			return ""
		}
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
		missing = append(missing, shown)
		return ""
	}
	found.prometheus = look(a.Prometheus, "Prometheus", "prometheus")
	found.alertmanager = look(a.Alertmanager, "Alertmanager", "prometheus-alertmanager", "alertmanager")
	for _, name := range missing {
		if _, err := fmt.Fprintf(out, "faultline: %s is not installed, so it will not run; --no-alerts leaves it out without a word\n", name); err != nil {
			return found, err
		}
	}
	return found, nil
}

// addresses are those that must be free, by their keys.
func (a alerting) addresses() map[string]string {
	out := map[string]string{}
	if a.prometheus != "" {
		out["alerts.prometheus"] = a.Prometheus
	}
	if a.alertmanager != "" {
		out["alerts.alertmanager"] = a.Alertmanager
	}
	return out
}

// notify is the correlator's section of that name: incidents go to Alertmanager directly, beside the rules' alerts.
func (a alerting) notify() map[string]any {
	if a.alertmanager == "" {
		return nil
	}
	return map[string]any{"alertmanager": []string{"http://" + a.Alertmanager}, "every": a.Every.String()}
}

// alertmanagerPart routes alerts by their owner.
func (c upConfig) alertmanagerPart(p supervise.Part, a alerting) (supervise.Part, error) {
	routes := c.Alerts.Routes
	if routes == "" {
		text, err := dashboards.RoutesThatLeadNowhere()
		if err != nil {
			return p, err
		}
		if routes, err = c.writeText("alertmanager.yml", text); err != nil {
			return p, err
		}
	}
	p.Command = []string{
		a.alertmanager, "--config.file=" + routes, "--storage.path=" + filepath.Join(c.DataDir, "alertmanager"), "--web.listen-address=" + a.Alertmanager,
		"--cluster.listen-address=", "--log.level=warn",
	}
	p.Ready = "http://" + a.Alertmanager + "/-/ready"
	return p, nil
}

// prometheusPart scrapes all parts of this run, and evaluates the rules that come with the product.
func (c upConfig) prometheusPart(p supervise.Part, a alerting, nodeLogs bool) (supervise.Part, error) {
	rules, err := c.writeText("faultline.rules.yml", dashboards.Rules)
	if err != nil {
		return p, err
	}
	job := func(name, address string) map[string]any {
		return map[string]any{"job_name": name, "static_configs": []any{map[string]any{"targets": []string{address}}}}
	}
	correlator := job("faultline-correlator", c.Correlator)
	correlator["authorization"] = map[string]string{"credentials_file": c.tokenFile()}
	jobs := []any{correlator, job("faultline-collector", c.CollectorMetrics)}
	if nodeLogs {
		jobs = append(jobs, job("faultline-agent-collector", c.AgentMetrics))
	}
	if c.RunLab {
		jobs = append(jobs, job("faultline-provisioner", c.Provisioner.Ops))
	}
	config := map[string]any{
		"global":         map[string]string{"scrape_interval": a.Every.String(), "scrape_timeout": min(a.Every, 10*time.Second).String(), "evaluation_interval": a.Every.String()},
		"rule_files":     []string{rules},
		"scrape_configs": jobs,
	}
	if a.alertmanager != "" {
		config["alerting"] = map[string]any{"alertmanagers": []any{map[string]any{"static_configs": []any{map[string]any{"targets": []string{a.Alertmanager}}}}}}
	}
	file, err := c.write("prometheus.yml", config)
	if err != nil {
		return p, err
	}
	p.Command = []string{
		a.prometheus, "--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(c.DataDir, "prometheus"), "--storage.tsdb.retention.time=7d",
		"--web.listen-address=" + a.Prometheus, "--log.level=warn",
	}
	p.Ready = "http://" + a.Prometheus + "/-/ready"
	return p, nil
}

// writeText keeps a file in the data folder, where it can be looked at.
func (c upConfig) writeText(name string, text []byte) (string, error) {
	path := filepath.Join(c.DataDir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}

// where says under which addresses they are to be seen.
func (a alerting) where() string {
	text := ""
	if a.prometheus != "" {
		text += "\n  Prometheus, with the alert rules, is at http://" + a.Prometheus + "/alerts."
	}
	if a.alertmanager != "" {
		text += "\n  Alertmanager is at http://" + a.Alertmanager + ", told of every incident by its owner"
		if a.Routes == "" {
			text += "; nobody is called: alerts.routes names a configuration of yours"
		}
		text += "."
	}
	return text
}
