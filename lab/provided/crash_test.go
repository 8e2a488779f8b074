package provided_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/provided"
	"github.com/faultline-io/faultline/provisioner/provider"
)

// What a kill leaves between a launch and the writing of its answer: a row that says launching, leased to a
// driver that is no more. The job is found by its key, once the lease is over, and followed.
func TestKilledBetweenLaunchAndAnswer(t *testing.T) {
	var dir string
	p := start(t, func(c *provided.Config) {
		dir = c.Dir
		c.AAP.Takes = func(string, bool) time.Duration { return time.Second }
	})
	must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, "ocp_virt_vm"))
	must(t, provided.Until(t.Context(), patience, "running", func() (bool, error) {
		j, ok, err := p.Job(t.Context(), "a-1", provider.Provision)
		return ok && j.Status.State == provider.Running, err
	}))
	db, err := sql.Open("sqlite", "file:"+dir+"/provisioner.db?_pragma=busy_timeout(5000)")
	must(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), `UPDATE provider_jobs SET phase = 'launching', job_id = '', kind = '', state = '', message = '', raw = '', lease = 'd-dead', due_at = ?`,
		time.Now().Add(200*time.Millisecond).UnixNano())
	must(t, err)
	must(t, p.Reaches(t.Context(), "a-1", semconv.Active, patience))
	if j, _, err := p.Job(t.Context(), "a-1", provider.Provision); err != nil || j.JobID != "101" || p.AAP.Launches("a-1", false) != 1 {
		t.Fatalf("job %s, %d launches, %v", j.JobID, p.AAP.Launches("a-1", false), err)
	}
}

// A provider that is away from the launch on until the provision is given up may have launched it: before
// anything is cleaned up, the job is looked for and stopped.
func TestLaunchWithoutAnAnswer(t *testing.T) {
	p := start(t, func(c *provided.Config) {
		c.Workflow.JobTime = 400 * time.Millisecond
		c.AAP.Takes = func(_ string, deletes bool) time.Duration {
			if deletes {
				return time.Millisecond
			}
			return time.Hour
		}
	})
	p.AAP.Break(aapsim.Gateway)
	must(t, p.Create(t.Context(), "a-0", provided.PoolAAP, "ocp_virt_vm")) // not even the template is found
	must(t, p.Reaches(t.Context(), "a-0", semconv.Failed, patience))
	p.AAP.Break(aapsim.None)
	must(t, p.Create(t.Context(), "a-2", provided.PoolAAP, "ocp_virt_vm"))
	must(t, provided.Until(t.Context(), patience, "templates known", func() (bool, error) { return p.AAP.Launches("a-2", false) == 1, nil }))
	p.AAP.Break(aapsim.Gateway)
	must(t, p.Create(t.Context(), "a-1", provided.PoolAAP, "ocp_virt_vm"))
	must(t, p.Reaches(t.Context(), "a-1", semconv.Failed, patience))
	if p.AAP.Launches("a-1", false) != 1 {
		t.Fatal("not launched")
	}
	p.AAP.Break(aapsim.None)
	_, err := p.Control.Release(t.Context(), "a-1", by)
	must(t, err)
	must(t, p.Reaches(t.Context(), "a-1", semconv.Released, patience))
	j, _, err := p.Job(t.Context(), "a-1", provider.Provision)
	if err != nil || j.Status.State != provider.Canceled || p.AAP.Launches("a-1", false) != 1 || len(p.Hub.VirtualMachines("a-1")) != 0 {
		t.Fatalf("%+v %v", j, err)
	}
}

// An event for EDA that was accepted and dropped, or written down and maybe never posted, costs its allocation the time
// in which a playbook begins, not the whole patience with a job, and is not posted again.
func TestEventThatIsLost(t *testing.T) {
	for fault, posted := range map[edasim.Fault]string{edasim.Stopped: "accepted and dropped", edasim.Down: "maybe never posted"} {
		t.Run(posted, func(t *testing.T) {
			p := start(t, func(c *provided.Config) {
				c.Begin, c.Workflow.JobTime = 300*time.Millisecond, time.Hour
			})
			p.EDA.Break(fault)
			must(t, p.Create(t.Context(), "a-1", provided.PoolEDA, "ocp_virt_vm"))
			must(t, provided.Until(t.Context(), patience, "the event is posted, or not", func() (bool, error) {
				j, ok, err := p.Job(t.Context(), "a-1", provider.Provision)
				return ok && (j.JobID != "" || j.Failure != ""), err
			}))
			p.EDA.Break(edasim.None)
			must(t, p.Reaches(t.Context(), "a-1", semconv.Failed, patience))
			if a, _ := p.Control.Get(t.Context(), "a-1"); !strings.Contains(a.Reason, "no playbook has begun in the") {
				t.Fatalf("reason %q", a.Reason)
			}
			_, err := p.Control.Release(t.Context(), "a-1", by)
			must(t, err)
			must(t, p.Reaches(t.Context(), "a-1", semconv.Released, patience))
			if n := p.EDA.Matched("a-1", false); n != 0 || len(p.Hub.VirtualMachines("a-1")) != 0 {
				t.Fatalf("posted again: %d playbooks began", n)
			}
		})
	}
}
