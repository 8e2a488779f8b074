package lifecycle_test

import (
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

var update = flag.Bool("update", false, "write the tables of docs/provisioner.md anew")

// contract is what the telemetry contract says of the kinds that it knows.
var contract = map[string]string{
	lifecycle.OfAllocation: "requested reserved provisioning active degraded canceling canceled failed releasing release_failed released",
	lifecycle.OfNode:       "free reserved occupied cleanup fenced unknown",
	lifecycle.OfInstance:   "enrolling live superseded lost",
	lifecycle.OfWorkflow:   "scheduled running waiting cancel_requested completed failed timed_out canceled terminated",
	lifecycle.OfTask:       "queued dispatched running succeeded failed canceled expired lost rejected superseded",
	lifecycle.OfMessage:    "pending published failed dead",
}

// Each state of the contract is in the table of its kind, or it is said why it is never told.
func TestEveryStateIsInItsTable(t *testing.T) {
	for _, m := range lifecycle.StateMachines() {
		have := map[string]bool{}
		for _, l := range m.Lines {
			have[l.From], have[l.To] = true, true
		}
		delete(have, "")
		for _, u := range lifecycle.UnusedStates() {
			if u.Of == m.Of {
				if have[u.State] || u.Why == "" {
					t.Errorf("%s %s: told after all, or without a reason", u.Of, u.State)
				}
				have[u.State] = true
			}
		}
		want, known := contract[m.Of]
		if !known && m.Of != lifecycle.OfJob { // its phases are the controller's own
			t.Errorf("the contract knows no %s", m.Of)
		}
		var got []string
		for s := range have {
			got = append(got, s)
		}
		slices.Sort(got)
		states := strings.Fields(want)
		slices.Sort(states)
		if d := cmp.Diff(states, got); known && d != "" {
			t.Errorf("%s: %s", m.Of, d)
		}
	}
}

// move asks a table with the given facts, by the kind.
func move(t *rapid.T, of, from, to string) error {
	yes := func(what string) bool { return rapid.Bool().Draw(t, what) }
	text := func(what string) string { return rapid.SampledFrom([]string{"", "x"}).Draw(t, what) }
	at := func(what string) time.Time { return time.Unix(int64(rapid.IntRange(0, 2).Draw(t, what)), 0) }
	switch of {
	case lifecycle.OfAllocation:
		occupancy := rapid.SampledFrom([]string{"", lifecycle.Free, lifecycle.Reserved, lifecycle.Occupied, lifecycle.Cleanup, lifecycle.Fenced}).Draw(t, "occupancy")
		return lifecycle.MoveAllocation("x", from, to, lifecycle.Facts{
			Occupancy: occupancy, Provided: yes("provided"), Claimed: yes("claimed"), WasActive: yes("was active"), TasksDone: yes("done"),
			Observed: yes("observed"), Actor: text("actor"), Why: text("why"), Absent: yes("absent"), Evidence: text("evidence"),
		})
	case lifecycle.OfNode:
		return lifecycle.MoveNode("x", from, to, lifecycle.NodeFacts{Untouched: yes("untouched"), Proof: text("proof"), Actor: text("actor")})
	case lifecycle.OfInstance:
		return lifecycle.MoveInstance("x", from, to, lifecycle.InstanceFacts{Current: text("current"), Successor: text("successor")})
	case lifecycle.OfWorkflow:
		return lifecycle.MoveWorkflow("x", from, to)
	case lifecycle.OfTask:
		return lifecycle.MoveTask("x", from, to, lifecycle.TaskFacts{Now: at("now"), ExpiresAt: at("expires"), Claim: lifecycle.Claim{
			ID: text("claim"), InstanceID: text("instance"), Fence: int64(rapid.IntRange(0, 1).Draw(t, "fence")), LeaseUntil: at("lease"),
		}})
	case lifecycle.OfMessage:
		return lifecycle.MoveMessage("x", from, to, lifecycle.MessageFacts{Attempts: rapid.IntRange(0, 2).Draw(t, "attempts"), Operator: yes("operator")})
	case lifecycle.OfJob:
		return lifecycle.MoveJob("x", from, to, lifecycle.JobFacts{Named: yes("named"), Canceled: yes("canceled"), Settled: yes("settled")})
	}
	t.Fatalf("nobody moves a %s", of)
	return nil
}

// Whatever is asked of whichever table: what is not in it is refused as illegal, what is in it goes through
// or is refused for a reason that its guard names, and the refusal says who was to go where.
func TestOnlyWhatIsInATableIsAllowed(t *testing.T) {
	for _, m := range lifecycle.StateMachines() {
		t.Run(m.Of, func(t *testing.T) { onlyWhatIsInTheTable(t, m) })
	}
}

func onlyWhatIsInTheTable(t *testing.T, m lifecycle.StateMachine) {
	t.Helper()
	allowed := 0
	rapid.Check(t, func(t *rapid.T) {
		states := []string{"", "nonsense"}
		for _, l := range m.Lines {
			states = append(states, l.To)
		}
		from, to := rapid.SampledFrom(states).Draw(t, "from"), rapid.SampledFrom(states).Draw(t, "to")
		if rapid.Bool().Draw(t, "a line") {
			l := rapid.SampledFrom(m.Lines).Draw(t, "line")
			from, to = l.From, l.To
		}
		lines := slices.Clone(m.Lines)
		lines = slices.DeleteFunc(lines, func(l lifecycle.Line) bool { return l.From != from || l.To != to })
		if len(lines) > 1 {
			t.Fatalf("%s from %q to %s is there twice", m.Of, from, to)
		}
		err := move(t, m.Of, from, to)
		var r *lifecycle.Refusal
		if err != nil && (!errors.As(err, &r) || r.Of != m.Of || r.Subject != m.Of+" x" || r.From != from || r.To != to || r.Reason.Remedy() == "") {
			t.Fatalf("refused with %+v", err)
		}
		switch {
		case len(lines) == 0 && (r == nil || r.Reason != lifecycle.IllegalMove):
			t.Fatalf("%s from %q to %s is in no table: %v", m.Of, from, to, err)
		case len(lines) == 1 && r != nil && !slices.Contains(lines[0].Refusals, r.Reason):
			t.Fatalf("%s from %q to %s is refused for %s, which its guard does not name", m.Of, from, to, r.Reason)
		case err == nil:
			allowed++
		}
	})
	if allowed == 0 {
		t.Error("no move was allowed")
	}
}

// Nothing follows an end, and every state can be come to.
func TestEndsAndBeginnings(t *testing.T) {
	ends := map[string]string{
		lifecycle.OfAllocation: "canceled released", lifecycle.OfNode: "", lifecycle.OfInstance: "superseded",
		lifecycle.OfWorkflow: "canceled completed failed", lifecycle.OfTask: "canceled expired failed succeeded", lifecycle.OfMessage: "published", lifecycle.OfJob: "",
	}
	for _, m := range lifecycle.StateMachines() {
		reached := map[string]bool{"": true, lifecycle.Free: m.Of == lifecycle.OfNode} // a node is registered as free
		for range m.Lines {
			for _, l := range m.Lines {
				reached[l.To] = reached[l.To] || reached[l.From]
			}
		}
		var got []string
		for _, l := range m.Lines {
			if !reached[l.From] {
				t.Errorf("%s: nothing leads to %s", m.Of, l.From)
			}
			if !slices.ContainsFunc(m.Lines, func(o lifecycle.Line) bool { return o.From == l.To }) && !slices.Contains(got, l.To) {
				got = append(got, l.To)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != ends[m.Of] {
			t.Errorf("%s ends in %v", m.Of, got)
		}
	}
}

func TestGuardsOfTheSmallerTables(t *testing.T) {
	now := time.Unix(100, 0)
	held := lifecycle.Claim{ID: "cl-1", Fence: 1, InstanceID: "ni-1", LeaseUntil: now.Add(time.Second)}
	f := func(err error, want lifecycle.Reason) {
		t.Helper()
		var r *lifecycle.Refusal
		if errors.As(err, &r); (r == nil) != (want == lifecycle.Allowed) || r != nil && r.Reason != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	task := func(from, to string, facts lifecycle.TaskFacts, want lifecycle.Reason) {
		t.Helper()
		f(lifecycle.MoveTask("t-1", from, to, facts), want)
	}
	task(semconv.Queued, semconv.Dispatched, lifecycle.TaskFacts{Claim: held, Now: now}, lifecycle.Allowed)
	task(semconv.Queued, semconv.Dispatched, lifecycle.TaskFacts{Now: now}, lifecycle.ClaimIncomplete)
	task(semconv.Queued, semconv.Expired, lifecycle.TaskFacts{ExpiresAt: now, Now: now}, lifecycle.Allowed)
	task(semconv.Queued, semconv.Expired, lifecycle.TaskFacts{ExpiresAt: now.Add(1), Now: now}, lifecycle.NotOverdue)
	task(semconv.Running, semconv.Lost, lifecycle.TaskFacts{Claim: held, Now: now}, lifecycle.NotOverdue)
	task(semconv.Succeeded, semconv.Failed, lifecycle.TaskFacts{}, lifecycle.IllegalMove)
	task(semconv.Running, semconv.Superseded, lifecycle.TaskFacts{}, lifecycle.IllegalMove)
	f(lifecycle.MoveInstance("ni-1", lifecycle.Live, lifecycle.Superseded, lifecycle.InstanceFacts{Current: "ni-1", Successor: "ni-2"}), lifecycle.Allowed)
	f(lifecycle.MoveInstance("ni-1", lifecycle.Live, lifecycle.Superseded, lifecycle.InstanceFacts{Current: "ni-1", Successor: "ni-1"}), lifecycle.NoSuccessor)
	f(lifecycle.MoveInstance("ni-2", lifecycle.Enrolling, lifecycle.Live, lifecycle.InstanceFacts{Current: "ni-1"}), lifecycle.InstanceLives)
	f(lifecycle.MoveInstance("ni-1", lifecycle.Superseded, lifecycle.Live, lifecycle.InstanceFacts{}), lifecycle.IllegalMove)
	f(lifecycle.MoveWorkflow("wf-1", semconv.Completed, semconv.Running), lifecycle.IllegalMove)
	f(lifecycle.MoveWorkflow("wf-1", semconv.Running, semconv.TimedOut), lifecycle.IllegalMove)
	f(lifecycle.MoveMessage("ob-1", semconv.Published, semconv.Pending, lifecycle.MessageFacts{Operator: true}), lifecycle.IllegalMove)
	f(lifecycle.MoveMessage("ob-1", semconv.Dead, semconv.Failed, lifecycle.MessageFacts{Attempts: 3}), lifecycle.IllegalMove) // skipped is skipped
	f(lifecycle.MoveMessage("ob-1", semconv.Dead, semconv.Pending, lifecycle.MessageFacts{}), lifecycle.OperatorsOnly)
	f(lifecycle.MoveMessage("ob-1", semconv.Pending, semconv.Dead, lifecycle.MessageFacts{}), lifecycle.NotTried)
	f(lifecycle.MoveJob("k", lifecycle.JobWanted, lifecycle.JobLaunching, lifecycle.JobFacts{Canceled: true}), lifecycle.JobCanceled)
	f(lifecycle.MoveJob("k", lifecycle.JobLaunching, lifecycle.JobWanted, lifecycle.JobFacts{Named: true}), lifecycle.JobNamed)
	f(lifecycle.MoveJob("k", lifecycle.JobLaunching, lifecycle.JobFollowing, lifecycle.JobFacts{}), lifecycle.JobUnknown)
	f(lifecycle.MoveJob("k", lifecycle.JobFollowing, lifecycle.JobEnded, lifecycle.JobFacts{Named: true}), lifecycle.ResultOpen)
	f(lifecycle.MoveJob("k", lifecycle.JobFollowing, lifecycle.JobWanted, lifecycle.JobFacts{Named: true}), lifecycle.IllegalMove)
	f(lifecycle.MoveNode("n-1", lifecycle.Cleanup, lifecycle.Fenced, lifecycle.NodeFacts{}), lifecycle.UnnamedActor)
	f(lifecycle.MoveAllocation("a-1", semconv.Requested, semconv.Reserved, lifecycle.Facts{Provided: true}), lifecycle.Allowed)
}

const (
	begin = "<!-- lifecycle: go test ./provisioner/lifecycle -run TestDocumentation -update -->\n"
	end   = "<!-- end of lifecycle -->\n"
)

func TestDocumentation(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "provisioner.md")
	want := lifecycle.Markdown()
	doctest.Section(t, path, begin, end, want, *update)
	if strings.Contains(want, "| |") {
		t.Error("an empty cell")
	}
}
