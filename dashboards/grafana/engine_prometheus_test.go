package grafana

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/dashboards/prometheus"
)

// others stands for the processes beside the correlator: it gives every metric that docs/metrics.md says they have, with the labels that
// it says. Counters rise from scrape to scrape.
func others(t *testing.T) *httptest.Server {
	t.Helper()
	all := documented(t)
	named := map[string]string{"state": "dead", "occupancy": "fenced", "provider": "aap", "via": "request", "exporter": "clickhouse", "data_type": "logs"}
	var scrapes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := scrapes.Add(1)
		for _, m := range all {
			if strings.HasPrefix(m.section, "The correlator") || strings.HasPrefix(m.section, "Telling") {
				continue // the real one does
			}
			var labels []string
			for _, l := range m.labels {
				value, ok := named[l]
				if !ok {
					value = l + "-1"
				}
				labels = append(labels, fmt.Sprintf("%s=%q", l, value))
			}
			text := strings.Join(labels, ",")
			_, _ = fmt.Fprintf(w, "# TYPE %s %s\n", m.name, m.kind)
			switch m.kind {
			case "histogram":
				for i, le := range []string{"0.1", "1", "10", "+Inf"} {
					_, _ = fmt.Fprintf(w, "%s_bucket{%s} %d\n", m.name, strings.Trim(text+`,le="`+le+`"`, ","), n*int64(i+1))
				}
				_, _ = fmt.Fprintf(w, "%s_sum{%s} %d\n%s_count{%s} %d\n", m.name, text, n*7, m.name, text, n*4)
			case "counter":
				_, _ = fmt.Fprintf(w, "%s{%s} %d\n", m.name, text, n*3)
			default:
				_, _ = fmt.Fprintf(w, "%s{%s} %d\n", m.name, text, 1+n%3)
			}
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// metricsStore is Debian's Prometheus, scraping twice a second, with the recording rules of dashboards/prometheus.
type metricsStore struct{ url string }

func startPrometheus(t *testing.T, targets map[string]*httptest.Server) *metricsStore {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		return nil // who asks says so
	}
	dir := t.TempDir()
	faster := regexp.MustCompile(`(?m)^( +interval:) \d+s$`)
	if n := len(faster.FindAll(prometheus.Rules, -1)); n < 5 {
		t.Fatalf("%d intervals of rule groups", n)
	}
	must(t, os.WriteFile(filepath.Join(dir, "rules.yml"), faster.ReplaceAll(prometheus.Rules, []byte("$1 1s")), 0o600))
	config := "global: {scrape_interval: 500ms, scrape_timeout: 500ms, external_labels: {}}\nrule_files: [rules.yml]\nscrape_configs:\n"
	for job, target := range targets {
		config += fmt.Sprintf("  - job_name: %s\n    static_configs: [{targets: [%q], labels: {environment: test}}]\n", job, strings.TrimPrefix(target.URL, "http://"))
	}
	must(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	listen := free(t)
	cmd := exec.CommandContext(t.Context(), program, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+listen, "--log.level=error")
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	m := &metricsStore{"http://" + listen}
	eventually(t, 20*time.Second, func() string { return ready(t, m.url+"/-/ready") })
	return m
}

// free is an address of this machine that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func ready(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address) //nolint:gosec // a server of the test's own
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body)
	if answer.StatusCode != http.StatusOK {
		return address + ": " + answer.Status
	}
	return ""
}

// one is a series of an answer with its last value.
type one struct {
	labels map[string]string
	value  float64
}

// ask puts an expression, over the last minute or for now; only series with a value that is a number come back.
func (m *metricsStore) ask(t *testing.T, expr string, overTime bool) (out []one, problem string) {
	t.Helper()
	now := time.Now().Unix()
	form, path := url.Values{"query": {expr}}, "/api/v1/query"
	if overTime {
		path = "/api/v1/query_range"
		form.Set("start", strconv.FormatInt(now-60, 10))
		form.Set("end", strconv.FormatInt(now, 10))
		form.Set("step", "1")
	}
	answer, err := http.PostForm(m.url+path, form)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	var body struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  []any
				Values [][]any
			}
		}
	}
	must(t, json.NewDecoder(answer.Body).Decode(&body))
	if body.Error != "" {
		return nil, body.Error
	}
	for _, r := range body.Data.Result {
		points := r.Values
		if r.Value != nil {
			points = [][]any{r.Value}
		}
		last := math.NaN()
		for _, p := range points {
			v, err := strconv.ParseFloat(p[1].(string), 64)
			must(t, err)
			if !math.IsNaN(v) {
				last = v
			}
		}
		if !math.IsNaN(last) {
			out = append(out, one{r.Metric, last})
		}
	}
	return out, ""
}
