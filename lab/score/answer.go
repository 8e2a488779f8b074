package score

import (
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/semconv"
)

// alarms are what was said of an allocation but "none".
func alarms(said []Ruling) (out []Ruling) {
	for _, r := range said {
		if r.Outcome != correlator.None {
			out = append(out, r)
		}
	}
	return out
}

// troubleIn are the times of an allocation's failure records, and of the lapses of what was owed.
func troubleIn(a correlator.Allocation) (out []time.Time) {
	for _, e := range a.Timeline {
		if e.Kind == "gap" || e.Severity == "error" || e.Severity == "fatal" {
			out = append(out, time.Unix(0, int64(e.Time)))
		}
	}
	return out
}

// blames are the owners that a verdict names, each once, the strongest first.
func blames(v correlator.Verdict) []string {
	var out []string
	for _, f := range v.Faults {
		if b := f.Layer + "/" + f.Mechanism; len(out) == 0 || out[len(out)-1] != b {
			out = append(out, b)
		}
	}
	return out
}

func inWords(r Ruling) string {
	return strings.Join(append([]string{r.Outcome}, r.Blames...), " ")
}

// addAction adds what a record tells of a task: a move, or an agent's request about it.
func addAction(all []TaskAction, e query.FullEvent) []TaskAction {
	at := time.Unix(0, int64(e.Time))
	d := TaskAction{Claim: e.Attributes[semconv.ClaimID], At: at, End: at}
	switch {
	case d.Claim == "":
		return all
	case e.Name == semconv.EventTaskState:
		d.Move = e.Attributes[semconv.To]
		d.LeaseUntil, _ = time.Parse(time.RFC3339Nano, e.Attributes[semconv.LeaseUntil]) // zero where there is none
	case e.End != nil && e.Layer == semconv.LayerNodeAgent && (e.Name == "renew" || e.Name == "result"):
		d.End, d.Failed = time.Unix(0, int64(*e.End)), e.Status == "error"
	default:
		return all
	}
	return append(all, d)
}
