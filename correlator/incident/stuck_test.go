package incident_test

import (
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/story"
)

const late = `
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:00 provisioner node.assigned allocation_id=a-1 node_id=n-1
10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 type=prepare to=queued
10:00:00 provisioner allocation.state allocation_id=a-2 from=provisioning to=active
10:00:00 provisioner allocation.state allocation_id=a-3 from=reserved to=provisioning
`

func TestStuck(t *testing.T) {
	now := story.Day.Add(10*time.Hour + 5*time.Minute).UnixNano()
	list := incident.ListStuck(assessments(t, late, correlator.AsOf{Now: now}), now)
	if len(list.Allocations) != 1 || list.Examined != 3 {
		t.Fatalf("%d of %d stuck", len(list.Allocations), list.Examined)
	}
	s := list.Allocations[0]
	if s.ID != "a-1" || s.Owes != "node_agent" || s.Deadline.String() != "2026-03-02T10:01:01Z" || s.OverdueSeconds != 239 || s.Owner.Team != "node agent" {
		t.Errorf("%+v", s)
	}
	if s.SeenAt != nil || s.Outcome != correlator.Undetermined {
		t.Errorf("nobody heard of the agent: %+v", s)
	}
	if *s.State != "provisioning" || len(s.Evidence) == 0 {
		t.Errorf("%+v", s)
	}

	// The agent's sign of life after the deadline makes it the agent's.
	list = incident.ListStuck(assessments(t, late+"10:03:00 node-agent heartbeat node_id=n-1 component=node-agent\n", correlator.AsOf{Now: now}), now)
	if s := list.Allocations[0]; s.SeenAt == nil || s.SeenAt.String() != "2026-03-02T10:03:00Z" || s.Layer != "node_agent" || s.Cause == "" {
		t.Errorf("%+v", s)
	}

	// As of a time at which nothing was due yet, nothing is stuck.
	early := story.Day.Add(10*time.Hour + 30*time.Second).UnixNano()
	if list := incident.ListStuck(assessments(t, late, correlator.AsOf{Until: early}), early); len(list.Allocations) != 0 {
		t.Errorf("%+v", list.Allocations)
	}
}

func TestDriftList(t *testing.T) {
	list := incident.ListDrift(assessments(t, `
10:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
10:05:00 read-model projection.observed allocation_id=a-1 projection=ui field=state value=provisioning
10:00:00 provisioner allocation.state allocation_id=a-2 from=provisioning to=active
10:05:00 read-model projection.observed allocation_id=a-2 projection=ui field=state value=active
`, correlator.AsOf{}), 0)
	if len(list.Drift) != 1 || list.Examined != 2 {
		t.Fatalf("%+v", list)
	}
	if d := list.Drift[0]; d.ID != "a-1" || d.Projection != "ui" || d.Shown != "provisioning" || d.Truth != "active" {
		t.Errorf("%+v", d)
	}
}
