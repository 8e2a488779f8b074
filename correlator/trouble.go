package correlator

// Trouble is something that was owed and did not come about: it cost a claim, a lease, an attempt, a
// deadline or a user's request, or is still open. A failure that cost nothing is no trouble.
type Trouble struct {
	Kind     TroubleKind
	From, At int64    // when the step began, and when it was known to have failed
	Cites    []*Event // the obligation and its breach
	What     string   // for people: "task t-3 (wipe) was never claimed"
	Owes     string   // the layer that owed the step, "" where that is not known
	Node     string   // the node that it happened on, "" where it was none
	Instance string
	Attempt  *Attempt // of a task
	Call     string   // of a request: what was asked
	Cleared  int64    // the first success of the same, 0 while there is none
	// Complaint: a client merely says that things went wrong, and tells of no request. What it says is a symptom;
	// where a layer owns up, that layer's own records are the proof.
	Complaint bool

	memo any // see Memo
}

// Memo gives what read finds in the trouble, which is asked only once: many rules want to know the same.
// Judging one allocation is one goroutine's work.
func (t *Trouble) Memo(read func() any) any {
	if t.memo == nil {
		t.memo = read()
	}
	return t.memo
}

// TroubleKind is what sort of obligation was broken.
type TroubleKind string

// The kinds, deepest first: a broken task explains why its workflow and its allocation failed.
const (
	TaskTrouble     TroubleKind = "task"
	JobTrouble      TroubleKind = "job"
	OutboxTrouble   TroubleKind = "outbox"
	RequestTrouble  TroubleKind = "request"
	WorkflowTrouble TroubleKind = "workflow"
	StateTrouble    TroubleKind = "state"
	OverdueTrouble  TroubleKind = "overdue"
	DriftTrouble    TroubleKind = "drift"
	OrphanTrouble   TroubleKind = "orphan"
)

// NeverTaken says whether it is a task that nobody claimed.
func (t *Trouble) NeverTaken() bool { return t.Attempt != nil && t.Attempt.Taken == nil }
