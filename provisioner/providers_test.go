package provisioner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/provisioner"
)

const served = `
providers:
  aap:
    - pools: [virt]
      instance: prod
      api: {url: "https://aap.example/api/controller", token: "${env:AAP_TOKEN}"}
      hub: {url: "https://hub.example:6443"}
  eda:
    - pools: [POOL]
      webhook: {url: "http://eda.example:5000", timeout: 5s}
      hub: {url: "https://hub.example:6443"}
`

func load(t *testing.T, text string) (provisioner.Config, error) {
	t.Helper()
	t.Setenv("AAP_TOKEN", "s3")
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(path, provisioner.DefaultConfig())
}

func TestProviders(t *testing.T) {
	c, err := load(t, strings.Replace(served, "POOL", "virt-eda", 1))
	if err != nil {
		t.Fatal(err)
	}
	a, e := c.Providers.AAP[0].Config, c.Providers.EDA[0].Config
	if a.API.Token != "s3" || a.Poll != 30*time.Second || a.API.Timeout != 30*time.Second || a.Prefix != "osac" || e.Webhook.Timeout != 5*time.Second || e.Create != "/create-compute-instance" {
		t.Fatalf("%+v %+v", a, e)
	}
	if _, err := load(t, strings.Replace(served, "POOL", "virt", 1)); err == nil || !strings.Contains(err.Error(), `pool "virt" is served twice`) {
		t.Error(err)
	}
	if _, err := load(t, strings.Replace(served, "https://aap.example", "aap.example", 1)); err == nil || !strings.Contains(err.Error(), "api.url") {
		t.Error(err)
	}
	if _, err := load(t, strings.Replace(served, "instance: prod", "instance_name: prod", 1)); err == nil || !strings.Contains(err.Error(), "instance_name") {
		t.Error(err)
	}
}
