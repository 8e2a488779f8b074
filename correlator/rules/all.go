package rules

import "github.com/faultline-io/faultline/correlator"

// All lists every rule. The order decides nothing but the order of the list: what wins is the judge's
// list of tie-breaks.
func All() []correlator.Rule {
	var out []correlator.Rule
	out = append(out, signatures()...)
	out = append(out, ingress()...)
	out = append(out, auth()...)
	out = append(out, agent()...)
	out = append(out, provider()...)
	out = append(out, unfinished()...)
	out = append(out, refused()...)
	out = append(out, content()...)
	out = append(out, trigger()...)
	out = append(out, peer()...)
	out = append(out, outbox()...)
	out = append(out, worker()...)
	out = append(out, behind()...)
	out = append(out, signing()...)
	out = append(out, orphan()...)
	out = append(out, overdue()...)
	out = append(out, hop()...)
	out = append(out, handoff()...)
	out = append(out, answer()...)
	out = append(out, poll()...)
	out = append(out, change()...)
	out = append(out, because()...)
	out = append(out, testimony()...)
	out = append(out, first()...)
	for i := range out {
		out[i] = withComplaint(out[i])
	}
	return out
}
