package rules

import "github.com/faultline-io/faultline/correlator"

// withComplaint lets what a rule finds stand on its own records: where a client's complaint is all the trouble that
// there is, the cause alone would explain nothing, so the complaint is cited with it. Not among peers, whose callers
// complain of every one of them in turn.
func withComplaint(r correlator.Rule) correlator.Rule {
	find := r.Find
	r.Find = func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
		found := find(c, t)
		if !t.Complaint || c.Profile.FirstFailure() {
			return found
		}
		for i := range found {
			if len(found[i].Records) > 0 {
				found[i].Onset = onset(&found[i])
				found[i].Records = append(append([]*correlator.Event(nil), found[i].Records...), t.Cites...)
			}
		}
		return found
	}
	return r
}

func onset(ev *correlator.Evidence) int64 {
	if ev.Onset != 0 {
		return ev.Onset
	}
	return ev.Records[0].At
}
