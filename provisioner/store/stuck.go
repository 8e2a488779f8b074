package store

import (
	"database/sql"
	"errors"
	"time"
)

// UnsettledAllocations lists those that somebody must look at: whose release has failed, who failed and
// still hold a node, and those that have been on their way since before the given time. The longest so
// come first.
func (t *Tx) UnsettledAllocations(before time.Time, limit int) ([]Allocation, error) {
	var out []Allocation
	err := t.rows(func(r *sql.Rows) error {
		a, err := scanAllocation(r.Scan)
		out = append(out, a)
		return err
	}, `SELECT `+allocationColumns+` FROM allocations
		WHERE state = 'release_failed' OR state = 'failed' AND node_id <> ''
			OR state IN ('requested', 'reserved', 'provisioning', 'canceling', 'releasing') AND since < ?
		ORDER BY since, allocation_id LIMIT ?`, nanos(before), limit)
	return out, err
}

// SlowWorkflows lists open workflows that have been where they are since before the given time, the longest
// so first.
func (t *Tx) SlowWorkflows(before time.Time, limit int) ([]Workflow, error) {
	return t.workflows(`SELECT `+workflowColumns+` FROM workflows
		WHERE state IN ('scheduled', 'running', 'waiting', 'cancel_requested') AND moved_at < ? ORDER BY moved_at, workflow_id LIMIT ?`, nanos(before), limit)
}

// SlowTasks lists open tasks that were queued before the given time, oldest first.
func (t *Tx) SlowTasks(before time.Time, limit int) ([]Task, error) {
	return t.tasks(`SELECT `+taskColumns+` FROM tasks WHERE state IN ('queued', 'dispatched', 'running') AND created_at < ? ORDER BY created_at LIMIT ?`,
		nanos(before), limit)
}

// ClaimsOf lists the tasks that the node's agent is at work on.
func (t *Tx) ClaimsOf(node string) ([]Task, error) {
	return t.tasks(`SELECT `+taskColumns+` FROM tasks WHERE node_id = ? AND state IN ('dispatched', 'running') ORDER BY created_at`, node)
}

// UnusableNodes lists those that are fenced or wait for somebody to clean them.
func (t *Tx) UnusableNodes(limit int) ([]Node, error) {
	var out []Node
	err := t.rows(func(r *sql.Rows) error {
		n, err := scanNode(r.Scan)
		out = append(out, n)
		return err
	}, `SELECT `+nodeColumns+` FROM nodes WHERE occupancy IN ('fenced', 'cleanup') ORDER BY node_id LIMIT ?`, limit)
	return out, err
}

// FailingProviderJobs lists jobs that are not over and whose last call failed, oldest first.
func (t *Tx) FailingProviderJobs(limit int) ([]ProviderJob, error) {
	return t.providerJobs(`SELECT `+providerJobColumns+` FROM provider_jobs WHERE phase <> 'ended' AND failure <> '' ORDER BY created_at LIMIT ?`, limit)
}

// FencedSince is when somebody last fenced a node by hand, and why; the zero time where nobody did.
// When a node came into cleanup is its allocation's story.
func (t *Tx) FencedSince(node string) (at time.Time, reason string, err error) {
	var n int64
	err = t.row(`SELECT at, reason FROM audit WHERE node_id = ? AND action = 'fence' AND outcome = 'done' ORDER BY at DESC LIMIT 1`, node).Scan(&n, &reason)
	if errors.Is(err, sql.ErrNoRows) {
		return at, "", nil
	}
	return timeOf(n), reason, err
}
