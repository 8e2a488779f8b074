package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/bearer"
	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/lab"
)

// truth is what the lab knows of an allocation.
type truth struct {
	ID        string `json:"allocation_id"`
	Story     string `json:"story"`
	Outcome   string `json:"outcome"`
	Layer     string `json:"layer"`
	Mechanism string `json:"mechanism"`
}

// TestUp runs the product as a user does: all programs, the lab's whole cast, the store and the
// Collector killed in the middle. Then it looks at every verdict, at the same run as a file, and at
// every record that was emitted.
func TestUp(t *testing.T) {
	const allocations, killedAfter = 26, 8
	bin := buildPrograms(t)
	cfg := upTestConfig(t, allocations)
	run := start(t, bin, cfg)
	nobodyElseIsAnswered(t, bin, cfg)
	alertsGetThrough(t, cfg)

	stories := map[string]bool{}
	killed := false
	eventually(t, 3*time.Minute, "the lab plays all its stories", func() bool {
		truths := readTruths(t, cfg)
		for _, one := range truths {
			stories[one.Story] = true
		}
		if len(truths) >= killedAfter && !killed {
			killed = true
			for _, name := range []string{"faultline store", "faultline-collector"} {
				run.kill(t, name)
			}
		}
		return killed && len(truths) >= allocations && !run.has("faultline-lab")
	})
	truths := readTruths(t, cfg)
	if len(stories) < 8 {
		t.Errorf("only %d stories were played: %v", len(stories), stories)
	}
	export := filepath.Join(cfg.DataDir, exportFile)
	exports := []string{export, export + ".provisioner"}
	served := map[string]string{}
	for _, one := range truths {
		// The queue of the Collector may still hold what the store missed while it was away.
		eventually(t, time.Minute, "the verdict on "+one.Story+" "+one.ID+" is "+one.Outcome+" "+one.Layer, func() bool {
			a, err := fetch(cfg.Correlator, one.ID)
			if err != nil {
				return false
			}
			served[one.ID] = ruling(a.Verdict)
			return served[one.ID] == one.String()
		})
		eventually(t, time.Minute, "the verdict that is kept on "+one.ID+" is the one that is given", func() bool {
			var h api.History
			q := question{server: "http://" + cfg.Correlator}
			if err := q.get(context.Background(), history(one.ID), &h); err != nil {
				return false
			}
			return ruling(h.Revisions[len(h.Revisions)-1].Assessment.Verdict) == served[one.ID]
		})
	}
	healthy := slices.IndexFunc(truths, func(o truth) bool { return o.Story == "healthy" })
	anyIdentifierLeadsThere(t, cfg, truths[healthy].ID)
	eachRecordIsReadOnce(t, cfg, truths[killedAfter-4:killedAfter+4], exports)
	run.stop(t)
	if token, err := bearer.Token(cfg.server(), ""); err != nil || token != "" {
		t.Errorf("commands still find a token: %v", err)
	}
	sameFromFiles(t, truths, served, exports)
	everythingIsThereOnce(t, cfg, exports)
}

func (o truth) String() string {
	if o.Layer == "" {
		return o.Outcome
	}
	return o.Outcome + " " + o.Layer + "." + o.Mechanism
}

func ruling(v correlator.Verdict) string {
	out := v.Outcome
	for _, f := range v.Faults {
		out += " " + f.Layer + "." + f.Mechanism
		if len(f.Evidence) == 0 {
			out += " without evidence"
		}
	}
	return out
}

func buildPrograms(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"faultline", "faultline-collector", "faultline-correlator", "faultline-provisioner", "faultline-lab"} {
		build := exec.Command("go", "build", "-o", filepath.Join(bin, name), "github.com/faultline-io/faultline/cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return bin
}

// exportFile takes what the lab says, in the data folder; what the provisioner says lies beside it.
const exportFile = "run.otlp.jsonl"

func upTestConfig(t *testing.T, count int) upConfig {
	t.Helper()
	c, platform := defaultUpConfig(), lab.DefaultConfig()
	c.DataDir = t.TempDir()
	for _, address := range []*string{
		&c.Store, &c.OTLP.GRPC, &c.OTLP.HTTP, &c.CollectorHealth, &c.CollectorMetrics, &c.AgentHealth, &c.AgentMetrics, &c.Correlator, &c.Provisioner.Control,
		&c.Provisioner.Node, &c.Provisioner.Ops, &platform.Ingress, &platform.API, &platform.Auth, &platform.DeadAPI, &platform.ProvisionerFaults,
		&c.Alerts.Prometheus, &c.Alerts.Alertmanager,
	} {
		*address = freeAddress(t)
	}
	platform.Count, platform.Every = count, 800*time.Millisecond
	platform.Export = filepath.Join(c.DataDir, exportFile)
	if err := c.Lab.Encode(platform); err != nil {
		t.Fatal(err)
	}
	return c
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// product is a running `faultline up`.
type product struct {
	cmd *exec.Cmd
	out *bytes.Buffer
}

func start(t *testing.T, bin string, cfg upConfig) *product {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // where it leaves its token for us
	text, err := yaml.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cfg.DataDir, "up.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &product{cmd: exec.Command(filepath.Join(bin, "faultline"), "up", "--config", path), out: &bytes.Buffer{}}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, schema.Variable+"=") })
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	eventually(t, 2*time.Minute, "the correlator is ready", func() bool {
		r, err := http.Get("http://" + cfg.Correlator + "/readyz")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return p
}

// children gives the process ids of the parts by their command lines.
func (p *product) children() map[string]int {
	out := map[string]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, after, ok := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		if !ok || len(fields) < 2 || fields[1] != strconv.Itoa(p.cmd.Process.Pid) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		args := strings.Split(string(line), "\x00")
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		name := filepath.Base(args[0])
		if len(args) > 1 && name == "faultline" {
			name += " " + args[1]
		}
		out[name] = pid
	}
	return out
}

func (p *product) has(name string) bool { return p.children()[name] != 0 }

func (p *product) kill(t *testing.T, name string) {
	t.Helper()
	pid := p.children()[name]
	if pid == 0 {
		t.Fatalf("no %s among %v", name, p.children())
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, name+" is started again", func() bool {
		again := p.children()[name]
		return again != 0 && again != pid
	})
}

// stop presses Ctrl-C and sees that nothing is left running.
func (p *product) stop(t *testing.T) {
	t.Helper()
	parts := p.children()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("faultline up: %v\n%s", err, p.out)
	}
	for name, pid := range parts {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("%s is left running", name)
		}
	}
	for _, words := range []string{"faultline is up", "is started again", "faultline: stopped"} {
		if !strings.Contains(p.out.String(), words) {
			t.Errorf("does not say %q:\n%s", words, p.out)
		}
	}
}

func readTruths(t *testing.T, cfg upConfig) []truth {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, "lab", "truth.jsonl"))
	if err != nil {
		return nil
	}
	var out []truth
	for line := range strings.Lines(string(text)) {
		var one truth
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &one) == nil {
			out = append(out, one)
		}
	}
	return out
}

func fetch(address, id string) (correlator.Allocation, error) {
	var a correlator.Allocation
	q := question{server: "http://" + address}
	return a, q.get(context.Background(), whole(id, nil), &a)
}

// anyIdentifierLeadsThere asks, as the command line does, by every kind of identifier in a timeline; layers
// from the client to the node are joined in it.
func anyIdentifierLeadsThere(t *testing.T, cfg upConfig, allocation string) {
	t.Helper()
	a, err := fetch(cfg.Correlator, allocation)
	if err != nil {
		t.Fatal(err)
	}
	q := question{server: "http://" + cfg.Correlator}
	asked, layers := map[string]bool{}, map[string]bool{}
	for _, e := range a.Timeline {
		layers[e.Layer] = true
		for key, id := range e.IDs {
			if asked[key] || strings.HasPrefix(key, "node") || key == "boot_id" || e.Via == "context" {
				continue // a node serves many
			}
			asked[key] = true
			found, err := q.ask(context.Background(), id, os.Stderr)
			if err != nil || found.ID != allocation {
				t.Errorf("%s %s leads to %q (%v), not to %s", key, id, found.ID, err, allocation)
			}
		}
	}
	if len(asked) < 6 || len(layers) < 8 {
		t.Errorf("%s: asked by %v, layers %v", allocation, asked, layers)
	}
}

// sameFromFiles judges the exported run, as it is and shuffled.
func sameFromFiles(t *testing.T, truths []truth, served map[string]string, exports []string) {
	t.Helper()
	var whole bytes.Buffer
	a := analysis{look: look{json: true}}
	if err := a.run(exports, nil, &whole, &whole); err != nil {
		t.Fatal(err)
	}
	var answer correlator.Answer
	if err := json.Unmarshal(whole.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	fromFile := map[string]string{}
	for _, one := range answer.Allocations {
		fromFile[one.ID] = ruling(one.Verdict)
	}
	for _, one := range truths {
		if fromFile[one.ID] != served[one.ID] {
			t.Errorf("%s %s: the file says %s, the store %s", one.Story, one.ID, fromFile[one.ID], served[one.ID])
		}
	}
	var lines []string
	for _, path := range exports {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	var shuffled bytes.Buffer
	if err := a.run([]string{otlpfile.Stdin}, strings.NewReader(strings.Join(lines, "\n")), &shuffled, &shuffled); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(whole.Bytes(), shuffled.Bytes()) {
		t.Error("a permuted file gives another answer")
	}
}

// everythingIsThereOnce opens the store alone and looks for every record that was emitted.
func everythingIsThereOnce(t *testing.T, cfg upConfig, exports []string) {
	t.Helper()
	emitted := emittedRecords(t, exports, func(r otlpfile.Rejection) { t.Error(r) })
	c := embedded.DefaultConfig()
	c.DataDir, c.Listen = filepath.Join(cfg.DataDir, "store"), "127.0.0.1:0"
	store, err := embedded.Start(t.Context(), c, testLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close(context.Background()) }()
	conn, err := schema.Open(t.Context(), store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	rows, err := conn.Query(t.Context(), "SELECT toString(key), count() FROM events GROUP BY key")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	stored, twice := map[string]bool{}, 0
	for rows.Next() {
		var key string
		var n uint64
		if err := rows.Scan(&key, &n); err != nil {
			t.Fatal(err)
		}
		stored[key] = true
		if n > 1 {
			twice++
		}
	}
	lost := 0
	for _, r := range emitted {
		if !stored[r.Key()[:record.KeyDigits]] {
			lost++
		}
	}
	t.Logf("%d records emitted, %d keys stored, %d of them in more than one row (read as one), %d lost", len(emitted), len(stored), twice, lost)
	if lost > 0 || len(emitted) == 0 {
		t.Errorf("%d of %d emitted records are not in the store", lost, len(emitted))
	}
}

func testLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within " + fmt.Sprint(within) + ": " + what)
		}
	}
}
