package live

import (
	"strconv"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// A machine that falls silent is remembered by its last words for some hours, and not for ever: fleets have many machines.
func TestSilentMachinesAreForgotten(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWorkingSet(p, rules.All(), DefaultBounds())
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC).UnixNano()
	say := func(node string, n int, at int64) {
		var said []*record.Record
		for i := range n {
			said = append(said, &record.Record{
				Signal: record.Log, Service: "node-agent", Time: at + int64(i)*int64(time.Second), Observed: at + int64(i)*int64(time.Second),
				Body: "line " + strconv.Itoa(i), Attrs: record.Attrs{{Key: "node_id", Value: node}},
			})
		}
		w.Add(said, nil)
	}
	for i := range 50 {
		say("n-"+strconv.Itoa(i), 1+i%8, start)
	}
	say("n-awake", 1, start+int64(time.Hour))
	for node, lines := range w.nodeLines {
		if len(lines) > lastWords {
			t.Errorf("an hour later %d lines of %s are kept", len(lines), node)
		}
	}
	if len(w.nodeLines) != 51 {
		t.Errorf("an hour later the last words of %d machines are kept, of 51", len(w.nodeLines))
	}
	say("n-awake", 1, start+changeMargin+int64(time.Hour))
	if len(w.nodeLines) != 1 {
		t.Errorf("hours later %d machines are kept", len(w.nodeLines))
	}
}
