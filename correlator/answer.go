package correlator

import (
	"encoding/json"
	"time"

	"github.com/faultline-io/faultline/internal/profile"
)

// RulesVersion names the set of rules that judged; a change of any rule changes it.
const RulesVersion = "2026-11-30.165"

// Answer is all that is known of the allocations in the input (docs/contract.md §6).
type Answer struct {
	Allocations []Allocation `json:"allocations"`
	Orphans     []Orphan     `json:"orphans"`
	Stats       Stats        `json:"stats"`
}

// Allocation is the joined story of one allocation.
type Allocation struct {
	ID       string  `json:"allocation_id"`
	State    *string `json:"state"`
	Since    *Time   `json:"since"`
	Timeline []Entry `json:"timeline"`
	Verdict  Verdict `json:"verdict"`
}

// Entry is one line of a timeline.
type Entry struct {
	Time     Time              `json:"time"`
	Observed Time              `json:"observed_time"`
	Layer    string            `json:"layer"`
	Source   string            `json:"source"`
	Kind     string            `json:"kind"`
	Name     string            `json:"name"`
	Severity string            `json:"severity"`
	Summary  string            `json:"summary"`
	IDs      map[string]string `json:"ids"`
	Via      string            `json:"via"`
	Ref      string            `json:"ref"`
}

// Outcomes of a verdict.
const (
	None         = "none"
	Attributed   = "attributed"
	Contested    = "contested"
	Undetermined = "undetermined"
)

// Verdict says whose the trouble is, and what proves it.
type Verdict struct {
	Outcome      string      `json:"outcome"`
	Explanation  string      `json:"explanation"`
	AsOf         Time        `json:"as_of"`
	RulesVersion string      `json:"rules_version"`
	Faults       []Fault     `json:"faults"`
	Candidates   []Candidate `json:"candidates"`
	Missing      []Missing   `json:"missing"`
	Drift        []Drift     `json:"drift"`
	Findings     []Finding   `json:"findings"`
}

// Confidence of a fault.
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// Fault is one independent cause with the records that prove it.
type Fault struct {
	Layer         string        `json:"layer"`
	Mechanism     string        `json:"mechanism"`
	Confidence    string        `json:"confidence"`
	Onset         Time          `json:"onset"`
	ClearedAt     *Time         `json:"cleared_at"`
	Rule          string        `json:"rule"`
	Summary       string        `json:"summary"`
	Evidence      []string      `json:"evidence"`
	Symptoms      []string      `json:"symptoms"`
	Contradicting []string      `json:"contradicting"`
	NextCheck     string        `json:"next_check"`
	SafeAction    string        `json:"safe_action"`
	Owner         profile.Owner `json:"owner"`
}

// Candidate is a layer that may own the trouble of an undetermined verdict.
type Candidate struct {
	Layer string `json:"layer"`
	Why   string `json:"why"`
}

// Missing is a party whose records would decide, one of the two between whom an order was lost from sight, and what is lacking of it: all telemetry, or its own word.
type Missing struct {
	Layer string `json:"layer"`
	Why   string `json:"why"`
}

// Drift is a view that shows something else than the truth for longer than its grace.
type Drift struct {
	Projection string `json:"projection"`
	Field      string `json:"field"`
	Shown      string `json:"shown"`
	Truth      string `json:"truth"`
	Since      Time   `json:"since"`
}

// Finding is something that should be known but is no fault by itself.
type Finding struct {
	Kind    string   `json:"kind"`
	Summary string   `json:"summary"`
	Refs    []string `json:"refs"`
	Rule    string   `json:"rule,omitempty"` // the rule that it is about, where it is about one
}

// Orphan is a resource whose allocation is gone.
type Orphan struct {
	ResourceUID  string   `json:"resource_uid"`
	Kind         string   `json:"kind"`
	AllocationID string   `json:"allocation_id"`
	Evidence     []string `json:"evidence"`
}

// Stats count what went in. Records are all log records and spans; each is either resolved, unresolved
// or a duplicate.
type Stats struct {
	Records    int `json:"records"`
	Resolved   int `json:"resolved"`
	Unresolved int `json:"unresolved"`
	Conflicts  int `json:"conflicts"`
	Duplicates int `json:"duplicates"`
	Rejected   int `json:"rejected"`
}

// Time is Unix nanoseconds, written as RFC 3339 in UTC with up to nine digits.
type Time int64

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return err
	}
	*t = Time(at.UnixNano())
	return nil
}

// String is the RFC 3339 form.
func (t Time) String() string { return time.Unix(0, int64(t)).UTC().Format(time.RFC3339Nano) }

// Milli is the RFC 3339 form with at most three digits of a second: what a sentence says of a moment, where a person reads it.
func (t Time) Milli() string { return time.Unix(0, int64(t)).UTC().Format("2006-01-02T15:04:05.999Z") }
