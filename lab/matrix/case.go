package matrix

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab"
)

// Case is one interruption.
type Case struct {
	Name   string
	Owners []string // layers that may be named; none: nobody may
	begin  func(*Rig) (end func() error, err error)
}

// Ways to interrupt.
const (
	freeze  = lab.Freeze
	kill    = lab.Kill
	silence = "silence" // the telemetry of a layer does not arrive
)

// Cases lists all. Who is killed and not started again may as well not have been deployed: nothing that is left tells these apart.
func Cases() []Case {
	var out []Case
	add := func(subject, how string, owners []string, begin func(*Rig) (func() error, error)) {
		if how == kill && len(owners) > 0 {
			owners = append(slices.Clone(owners), semconv.LayerDeploy)
			if subject == "api" || subject == "provisioner" { // both stand behind the proxy, which has no back end then
				owners = append(owners, semconv.LayerIngress)
			}
		}
		out = append(out, Case{Name: subject + " " + how, Owners: owners, begin: begin})
	}
	owner := map[string]string{"ingress": semconv.LayerIngress, "api": semconv.LayerAPI, "auth": semconv.LayerAPIAuth, "agent": semconv.LayerNodeAgent}
	for _, part := range lab.Interruptible {
		for _, how := range []string{freeze, kill} {
			add(part, how, []string{owner[part]}, func(r *Rig) (func() error, error) { return r.part(part, how) })
		}
	}
	// The provisioner is one process: control API, worker and relay. Where it is killed in the middle of a request, the proxy sees its control API end
	// the connection; where it is frozen, that API is not why nothing moves.
	for _, how := range []string{freeze, kill} {
		owners := []string{semconv.LayerWorkflow, semconv.LayerOutbox}
		if how == kill {
			owners = append(owners, semconv.LayerAPI)
		}
		add("provisioner", how, owners, func(r *Rig) (func() error, error) { return r.process("provisioner", how) })
	}
	for how, fault := range map[string]string{freeze: "outbox_relay_stop", kill: "outbox_relay_gone"} {
		add("relay", how, []string{semconv.LayerOutbox}, func(r *Rig) (func() error, error) { return r.fault(fault) })
	}
	for _, process := range []string{"collector", "store", "correlator"} { // the product's own
		for _, how := range []string{freeze, kill} {
			add(process, how, nil, func(r *Rig) (func() error, error) { return r.process(process, how) })
		}
	}
	for _, layer := range silenced {
		add(layer, silence, nil, func(r *Rig) (func() error, error) { return r.silence(layer) })
	}
	slices.SortFunc(out, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// silenced are the layers that speak in the lab.
var silenced = []string{
	semconv.LayerClient, semconv.LayerIngress, semconv.LayerAPIAuth, semconv.LayerAPI, semconv.LayerOutbox, semconv.LayerWorkflow, semconv.LayerNodeAgent,
	semconv.LayerNode, semconv.LayerDB, semconv.LayerProjection,
}
