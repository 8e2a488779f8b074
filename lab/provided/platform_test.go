package provided_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/lab/provided"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/hub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

var by = control.Asker{Actor: "alice", ActorType: "user", Reason: "no longer needed"}

func start(t *testing.T, change func(*provided.Config)) *provided.Platform {
	t.Helper()
	c := provided.DefaultConfig(t.TempDir())
	if change != nil {
		change(&c)
	}
	p, err := provided.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func job(t *testing.T, p *provided.Platform, operation string) (provider.Status, string) {
	t.Helper()
	j, ok, err := p.Job(t.Context(), "a-1", operation)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return j.Status, j.Phase
}

func TestWholeLife(t *testing.T) {
	for _, pool := range []string{provided.PoolAAP, provided.PoolEDA} {
		t.Run(pool, func(t *testing.T) {
			p := start(t, nil)
			must(t, p.Create(t.Context(), "a-1", pool, "ocp_virt_vm"))
			must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
			_, err := p.Control.Release(t.Context(), "a-1", by)
			must(t, err)
			must(t, p.Reaches(t.Context(), "a-1", semconv.Released, patience))
			if _, there := p.Hub.Resource("a-1"); there || len(p.Hub.VirtualMachines("a-1")) != 0 {
				t.Fatal("something is left")
			}
		})
	}
}

// What goes wrong at the provider is said in the provider's words, and nothing is half-done.
func TestFailuresAreExplained(t *testing.T) {
	for template, want := range map[string]string{
		hubsim.FailQuota:       "aap provision Failed: failed on aap-ee-1: task create virtual machine failed: admission webhook denied the request: exceeded quota: compute",
		hubsim.ErrorStart:      "it has been marked as failed.",
		hubsim.PendingCapacity: "aap provision Canceled: canceled",
		hubsim.IgnoreCancel:    "the job goes on",
		hubsim.NoAnnotation:    "still Succeeded after",
	} {
		t.Run(template, func(t *testing.T) {
			p := start(t, func(c *provided.Config) {
				c.Workflow.JobTime, c.Workflow.CancelTime = 500*time.Millisecond, 300*time.Millisecond
				c.AAP.Takes = func(string, bool) time.Duration { return 20 * time.Millisecond }
				if template == hubsim.IgnoreCancel {
					c.AAP.Takes = func(string, bool) time.Duration { return time.Hour }
				}
			})
			must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, template))
			must(t, p.Reaches(t.Context(), "a-1", semconv.Failed, patience))
			if a, _ := p.Control.Get(t.Context(), "a-1"); !strings.Contains(a.Reason, want) {
				t.Fatalf("reason %q, want %q in it", a.Reason, want)
			}
			if s, _ := job(t, p, provider.Provision); !strings.Contains(s.Message, s.Explanation) {
				t.Fatalf("message %q without its explanation %q", s.Message, s.Explanation)
			}
		})
	}
}

// A job that ignores its cancel keeps the deprovision from starting beside it.
func TestReleaseWaitsForTheProvision(t *testing.T) {
	p := start(t, func(c *provided.Config) {
		c.Workflow.JobTime, c.Workflow.CancelTime = 200*time.Millisecond, 200*time.Millisecond
		c.AAP.Takes = func(_ string, deletes bool) time.Duration {
			if deletes {
				return time.Millisecond
			}
			return 3 * time.Second
		}
	})
	must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, hubsim.IgnoreCancel))
	must(t, p.Reaches(t.Context(), "a-1", semconv.Failed, patience))
	_, err := p.Control.Release(t.Context(), "a-1", by)
	must(t, err)
	must(t, p.Reaches(t.Context(), "a-1", semconv.ReleaseFailed, patience))
	if p.AAP.Launches("a-1", true) != 0 {
		t.Fatal("deprovisioned beside a running provision")
	}
	must(t, provided.Until(t.Context(), patience, "playbook over", func() (bool, error) { // much later it has come to its end
		r, there := p.Hub.Resource("a-1")
		return there && r.Metadata.Annotations[hub.ReconciledVersion] != "", nil
	}))
	_, err = p.Control.Release(t.Context(), "a-1", by)
	must(t, err)
	must(t, p.Reaches(t.Context(), "a-1", semconv.Released, patience))
	if n := p.AAP.Launches("a-1", true); n != 1 || len(p.Hub.VirtualMachines("a-1")) != 0 {
		t.Fatalf("%d deprovisions", n)
	}
}

func TestFailedDeprovisionBlocks(t *testing.T) {
	p := start(t, nil)
	must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, hubsim.DeleteFails))
	must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
	_, err := p.Control.Release(t.Context(), "a-1", by)
	must(t, err)
	must(t, p.Reaches(t.Context(), "a-1", semconv.ReleaseFailed, patience))
	if n := p.AAP.Launches("a-1", true); n != 3 || len(p.Hub.VirtualMachines("a-1")) != 1 {
		t.Fatalf("%d deprovisions", n)
	}
}

// Answers that are lost, and a provisioner that ends in the middle of a launch, launch nothing twice.
func TestOneLaunch(t *testing.T) {
	t.Run("lost reply", func(t *testing.T) {
		p := start(t, nil)
		must(t, p.Create(t.Context(), "a-0", provided.PoolAAP, "ocp_virt_vm"))
		must(t, p.Reaches(t.Context(), "a-0", semconv.Active, patience)) // the templates are known
		p.AAP.Break(aapsim.LostReply)
		must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, "ocp_virt_vm"))
		must(t, provided.Until(t.Context(), patience, "launch", func() (bool, error) { return p.AAP.Launches("a-1", false) > 0, nil }))
		time.Sleep(100 * time.Millisecond)
		p.AAP.Break(aapsim.None)
		must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
		if n := p.AAP.Launches("a-1", false); n != 1 {
			t.Fatalf("%d launches", n)
		}
	})
	t.Run("restart", func(t *testing.T) {
		p := start(t, func(c *provided.Config) {
			c.AAP.Launching = func(bool) time.Duration { return 300 * time.Millisecond }
			c.AAP.Takes = func(string, bool) time.Duration { return 100 * time.Millisecond }
		})
		must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, "ocp_virt_vm"))
		for range 5 {
			time.Sleep(110 * time.Millisecond)
			must(t, p.Restart(t.Context()))
		}
		must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
		if n := p.AAP.Launches("a-1", false); n != 1 {
			t.Fatalf("%d launches", n)
		}
	})
	t.Run("webhook", func(t *testing.T) {
		p := start(t, nil)
		p.EDA.Break(edasim.LostReply)
		must(t, p.Create(t.Context(), "a-1", provided.PoolEDA, "ocp_virt_vm"))
		must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
		if n := p.EDA.Matched("a-1", false); n != 1 {
			t.Fatalf("%d posts", n)
		}
	})
}

// A provider that is away while a job runs changes nothing that is known of the job, and nothing is
// launched again; what it answers afterwards counts.
func TestAwayWhileAJobRuns(t *testing.T) {
	for _, fault := range []aapsim.Fault{aapsim.Down, aapsim.Expired, aapsim.Maintenance, aapsim.Truncated, aapsim.Limited} {
		t.Run(string(fault), func(t *testing.T) {
			p := start(t, func(c *provided.Config) {
				c.AAP.Takes = func(string, bool) time.Duration { return 100 * time.Millisecond }
			})
			must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, "ocp_virt_vm"))
			must(t, provided.Until(t.Context(), patience, "running", func() (bool, error) {
				j, ok, err := p.Job(t.Context(), "a-1", provider.Provision)
				return ok && j.Status.State == provider.Running, err
			}))
			p.AAP.Break(fault)
			time.Sleep(250 * time.Millisecond)
			if s, phase := job(t, p, provider.Provision); s.State != provider.Running || s.Message != "running on aap-ee-1" || phase == "ended" {
				t.Fatalf("%+v %s", s, phase)
			}
			p.AAP.Break(aapsim.None)
			must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
			if n := p.AAP.Launches("a-1", false); n != 1 {
				t.Fatalf("%d launches", n)
			}
		})
	}
}

// Launches that are refused are tried again, and then are the allocation's failure, in clear words.
func TestRefusedLaunch(t *testing.T) {
	p := start(t, func(c *provided.Config) { c.AAP.Templates = []aapsim.Template{{ID: 1, Name: "other"}} })
	must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, "ocp_virt_vm"))
	must(t, p.Reaches(t.Context(), "a-1", semconv.Failed, patience))
	if a, _ := p.Control.Get(t.Context(), "a-1"); !strings.Contains(a.Reason, "template_missing") {
		t.Fatal(a.Reason)
	}
}

// The event says that an identifier is shared, a job is named, and no variable of a launch is anywhere: neither in
// telemetry nor in the database.
func TestTelemetry(t *testing.T) {
	p := start(t, nil)
	must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, "ocp_virt_vm"))
	must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
	must(t, p.Close(context.Background()))
	text, err := os.ReadFile(p.TelemetryFile())
	must(t, err)
	for _, want := range []string{`"provider_job.state"`, `"provider_job.poll"`, `"projection.observed"`, `aap/lab/job/101`, `"launch aap provision"`, `"service.name","value":{"stringValue":"aap"}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("nowhere: %s", want)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(string(text), secret) {
			t.Errorf("says %s", secret)
		}
	}
	// Neither does the database keep any: not in a row, not in a page that was freed, not in its log.
	files, err := filepath.Glob(filepath.Join(filepath.Dir(p.TelemetryFile()), "provisioner.db*"))
	must(t, err)
	known := false
	for _, file := range files {
		rows, err := os.ReadFile(file)
		must(t, err)
		known = known || strings.Contains(string(rows), "aap/provision") || strings.Contains(string(rows), "a-1/provision/")
		for _, secret := range secrets {
			if strings.Contains(string(rows), secret) {
				t.Errorf("%s has %s", filepath.Base(file), secret)
			}
		}
	}
	if !known {
		t.Errorf("the job is in none of %v", files)
	}
}

// secrets are words that only a launch's variables, and credentials, have.
var secrets = []string{"extra_vars", "faultline_launch_key", "ansible_eda", "payload\":{\"", "aap-token", "eda-token", "hub-token"}

// The job on the resource is stale at no moment: not while a cancel is waited for, not when cleanup begins
// without waiting, and not in its message.
func TestTheResourceKeepsStep(t *testing.T) {
	for _, template := range []string{hubsim.RunForever, hubsim.FailQuota, "ocp_virt_vm"} {
		t.Run(template, func(t *testing.T) {
			p := start(t, func(c *provided.Config) {
				c.AAP.Takes = func(string, bool) time.Duration { return 300 * time.Millisecond }
			})
			var mu sync.Mutex
			var history []hub.Resource
			p.Hub.Watch(func(r hub.Resource) { mu.Lock(); defer mu.Unlock(); history = append(history, r) })
			must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, template))
			switch template {
			case hubsim.RunForever: // canceled at work
				must(t, provided.Until(t.Context(), patience, "running", func() (bool, error) {
					j, ok, err := p.Job(t.Context(), "a-1", provider.Provision)
					return ok && j.Status.State == provider.Running, err
				}))
				_, err := p.Control.Cancel(t.Context(), "a-1", by)
				must(t, err)
				must(t, p.Reaches(t.Context(), "a-1", semconv.Canceled, patience))
			case hubsim.FailQuota: // over before
				must(t, p.Reaches(t.Context(), "a-1", semconv.Failed, patience))
				_, err := p.Control.Release(t.Context(), "a-1", by)
				must(t, err)
				must(t, p.Reaches(t.Context(), "a-1", semconv.Released, patience))
			default:
				must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
				_, err := p.Control.Release(t.Context(), "a-1", by)
				must(t, err)
				must(t, p.Reaches(t.Context(), "a-1", semconv.Released, patience))
			}
			want := map[string]string{
				"Running": "running on aap-ee-1", "Canceled": "canceled", "Failed": "failed on aap-ee-1: task create virtual machine failed: admission webhook denied the request: exceeded quota: compute", "Succeeded": "successful", "Waiting": "waiting",
			}
			mu.Lock()
			defer mu.Unlock()
			deprovisions := 0
			for _, r := range history {
				over := false
				for _, v := range r.Status.ProvisioningJobs {
					if message, known := want[v.State]; known && message != v.Message {
						t.Errorf("%s: state %s beside message %q", v.Type, v.State, v.Message)
					}
					over = over || v.Type == provider.Provision && provider.State(v.State).Terminal()
					if v.Type == provider.Deprovision {
						deprovisions++
						if !over {
							t.Errorf("a deprovision beside a provision that is shown as %s", r.Status.ProvisioningJobs[0].State)
						}
					}
				}
			}
			if deprovisions == 0 {
				t.Error("no deprovision was ever shown")
			}
		})
	}
}
