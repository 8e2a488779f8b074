package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// alertsGetThrough waits until Prometheus scrapes every part of the run, and until its watchdog has come to Alertmanager.
func alertsGetThrough(t *testing.T, cfg upConfig) {
	t.Helper()
	found, err := cfg.Alerts.find(&bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if found.prometheus == "" || found.alertmanager == "" {
		t.Log("SKIPPED: no prometheus or no prometheus-alertmanager (Debian's packages); that faultline up starts them is NOT tested")
		return
	}
	ask := func(url string, into any) bool {
		r, err := http.Get(url) //nolint:noctx,gosec // of this test
		if err != nil {
			return false
		}
		defer func() { _ = r.Body.Close() }()
		return r.StatusCode == http.StatusOK && json.NewDecoder(r.Body).Decode(into) == nil
	}
	eventually(t, 90*time.Second, "Prometheus scrapes every part", func() bool {
		var targets struct {
			Data struct {
				ActiveTargets []struct {
					Health string
					Labels map[string]string
				}
			}
		}
		up := map[string]bool{}
		if !ask("http://"+cfg.Alerts.Prometheus+"/api/v1/targets", &targets) {
			return false
		}
		for _, one := range targets.Data.ActiveTargets {
			up[one.Labels["job"]] = one.Health == "up"
		}
		return up["faultline-correlator"] && up["faultline-collector"] && up["faultline-provisioner"]
	})
	eventually(t, 90*time.Second, "the watchdog comes to Alertmanager", func() bool {
		var alerts []struct{ Labels map[string]string }
		if !ask("http://"+cfg.Alerts.Alertmanager+"/api/v2/alerts", &alerts) {
			return false
		}
		for _, one := range alerts {
			if one.Labels["alertname"] == "FaultlineWatchdog" {
				return true
			}
		}
		return false
	})
}

func TestUpWithoutPrometheus(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := exec.LookPath("prometheus"); err == nil {
		t.Fatal("the test is wrong: it finds one")
	}
	var out bytes.Buffer
	found, err := defaultAlerts().find(&out)
	if err != nil || found.prometheus != "" || found.alertmanager != "" || len(found.addresses()) != 0 || found.notify() != nil || found.where() != "" {
		t.Errorf("%+v %v", found, err)
	}
	for _, name := range []string{"Prometheus is not installed", "Alertmanager is not installed", "--no-alerts"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("%q is not said: %s", name, out.String())
		}
	}
	out.Reset()
	if _, err := (alertsConfig{}).find(&out); err != nil || out.Len() > 0 {
		t.Errorf("what is not wanted is not missed: %s %v", out.String(), err)
	}
}

func TestAlertsConfig(t *testing.T) {
	f := func(change func(*alertsConfig), want string) {
		t.Helper()
		c := defaultUpConfig()
		change(&c.Alerts)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	f(func(a *alertsConfig) { a.Prometheus = "nowhere" }, "alerts.prometheus")
	f(func(a *alertsConfig) { a.Every = 0 }, "alerts.every")
	if err := defaultUpConfig().Validate(); err != nil {
		t.Error(err)
	}
}
