package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
)

// operator is somebody who, while provisioners are killed, fences nodes whatever they are at, lifts the fences
// again in whichever way is legal, and has nodes enrol anew. Each action has a key and a reason of its own, so
// that what was done twice, or for no reason, can be told.
type operator struct {
	control, node caller
	crew          *crew
	remotes       map[string]remote
	done          map[string]int // what was done, by action
	asked         int
}

// operatorsName is the operator's, in the audit log and in events.
const operatorsName = "kim"

// between is about how long the operator rests.
const between = 200 * time.Millisecond

// live acts until enough; then it only lifts fences, until all tenants have settled and every node is free.
// Nodes that it puts to work are at work until working ends.
func (o *operator) live(working, ctx, enough context.Context, settled <-chan struct{}) error {
	o.done = map[string]int{}
	for ; ctx.Err() == nil; pause(ctx, between) {
		tidying, over := enough.Err() != nil, false
		select {
		case <-settled:
			over = true
		default:
		}
		nodes, err := o.nodes(ctx)
		if err != nil {
			return err
		}
		if tidying {
			nodes = slices.DeleteFunc(nodes, func(n rest.Node) bool { return n.Occupancy == lifecycle.Free })
		}
		switch {
		case len(nodes) == 0 && over:
			return nil
		case len(nodes) == 0:
			continue
		}
		n := nodes[rand.N(len(nodes))]
		switch {
		case n.Occupancy == lifecycle.Fenced:
			err = o.lift(ctx, n)
		case tidying, n.Occupancy == lifecycle.Cleanup && rand.N(2) == 0:
			err = o.relieve(ctx, n)
		case rand.N(4) == 0:
			err = o.reEnrol(working, ctx, n.NodeID)
		default:
			_, err = o.act(ctx, recovery.Nodes, n.NodeID, "fence", false, nil)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(context.Cause(ctx), errors.New("nodes are not free yet"))
}

// lift ends a fence. Which action is legal depends on whose the node is; the guards say.
func (o *operator) lift(ctx context.Context, n rest.Node) error {
	if done, err := o.act(ctx, recovery.Nodes, n.NodeID, "unfence", true, nil); done || err != nil || n.AllocationID == "" {
		return err
	}
	_, err := o.act(ctx, recovery.Allocations, n.AllocationID, "force-release", false, nil)
	return err
}

// relieve has a node that is kept by an allocation that is over, cleaned up after.
func (o *operator) relieve(ctx context.Context, n rest.Node) error {
	if n.Occupancy != lifecycle.Cleanup || n.AllocationID == "" {
		return nil
	}
	_, err := o.act(ctx, recovery.Allocations, n.AllocationID, "force-release", false, nil)
	return err
}

// reEnrol has a node enrol as a new instance. While a claim is held that is refused, and the node
// goes on as it was.
func (o *operator) reEnrol(working, ctx context.Context, node string) error {
	o.crew.dismiss(node)
	m := o.remotes[node]
	defer func() { o.crew.employ(working, m) }()
	for ctx.Err() == nil {
		var answer recovery.Answer
		if done, err := o.act(ctx, recovery.Nodes, node, "re-enrol", false, &answer); !done || err != nil {
			return err
		}
		if answer.Enrolment == nil || answer.Enrolment.Token == "" {
			continue // shown once, in an answer that was lost
		}
		want := rest.EnrolRequest{BootID: "boot-1", HostName: node, Token: answer.Enrolment.Token}
		var err error
		if want.CertificateRequest, err = m.cert.request(node); err != nil {
			return err
		}
		var enrolled rest.Enrolled
		status, err := o.node.insist(ctx, http.MethodPost, "/internal/v1/nodes/enroll", want, &enrolled) // lost answers are given again
		if status == http.StatusCreated && err == nil {
			m.instance = enrolled.NodeInstanceID
			o.remotes[node] = m
			return m.cert.take(enrolled.Certificate, node, m.instance)
		}
	}
	return ctx.Err()
}

// act asks for an action, under one key, until there is an answer; done is false where it was refused.
func (o *operator) act(ctx context.Context, of recovery.Kind, id, action string, absent bool, answer any) (done bool, err error) {
	o.asked++
	want := rest.RecoveryRequest{Actor: operatorsName, Reason: fmt.Sprintf("drill-%d", o.asked), RuntimeVerifiedAbsent: absent}
	if absent {
		want.Evidence = "ticket of " + want.Reason
	}
	for ctx.Err() == nil {
		header := http.Header{rest.HeaderIdempotencyKey: {want.Reason}}
		status, err := o.control.call(ctx, http.MethodPost, "/v1/recovery/"+string(of)+"/"+id+"/"+action, header, want, answer)
		switch {
		case status == http.StatusOK && err == nil:
			o.done[action]++
			return true, nil
		case status == http.StatusConflict || status == http.StatusUnprocessableEntity: // a guard's word
			return false, nil
		case status >= 400 && status < 500:
			return false, err
		}
		pause(ctx, 20*time.Millisecond)
	}
	return false, ctx.Err()
}

func (o *operator) nodes(ctx context.Context) ([]rest.Node, error) {
	var all []rest.Node
	_, err := o.control.insist(ctx, http.MethodGet, "/v1/nodes", nil, &all)
	return all, err
}

// restarts is how often an allocation was told to begin its release: once, and once for each recovery.
func restarts(chain []Event) (n int) {
	for _, e := range chain {
		if e.To == semconv.Releasing && e.From != semconv.Canceling {
			n++
		}
	}
	return n
}
