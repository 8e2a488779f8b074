package query

import (
	"context"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
)

// Facts are what a store knows beside allocations and their records.
type Facts interface {
	// KindsOf gives as which kinds of identifier one is known; empty where it is not.
	KindsOf(ctx context.Context, id string) ([]identity.Kind, error)
	// Node gives what is known of a node, but for who holds it now. ErrUnknown where nothing is.
	Node(ctx context.Context, node string) (Node, error)
	// SourcesHeard gives who was heard of within a day, and when last.
	SourcesHeard(ctx context.Context) ([]SourceHeard, error)
	// SourceFigures gives what each source sent within a window that ends now.
	SourceFigures(ctx context.Context, window time.Duration) ([]SourceFigures, error)
	// CompareProviders gives how the jobs of each provider went that were told of in [from, to).
	CompareProviders(ctx context.Context, from, to int64) ([]ProviderFigures, error)
}

// Lookup is what an identifier of any kind belongs to.
type Lookup struct {
	ID          string         `json:"id"`
	Kinds       []string       `json:"kinds"`
	Allocations []LookupResult `json:"allocations"`
	Nodes       []string       `json:"nodes"`
	LastHeard   *Heard         `json:"last_heard"` // the newest record that carries it
	Layers      []LayerHeard   `json:"layers"`
}

// LookupResult is an allocation that an identifier leads to.
type LookupResult struct {
	ID        string           `json:"allocation_id"`
	State     *string          `json:"state"`
	Since     *correlator.Time `json:"since"`
	FirstSeen correlator.Time  `json:"first_seen"`
	LastSeen  correlator.Time  `json:"last_seen"`
}

// Heard is a record in one line.
type Heard struct {
	Time    correlator.Time `json:"time"`
	Source  string          `json:"source"`
	Layer   string          `json:"layer"`
	Summary string          `json:"summary"`
	Ref     string          `json:"ref"`
}

// LayerHeard is when a layer was heard of last, whoever its records concern.
type LayerHeard struct {
	Layer     string           `json:"layer"`
	LastHeard *correlator.Time `json:"last_heard"`
	Silent    bool             `json:"silent"`
}

// Node is a node over all its node instances.
type Node struct {
	ID             string           `json:"node_id"`
	Allocation     *string          `json:"allocation_id"` // who holds it now
	Occupancy      string           `json:"occupancy"`
	OccupancySince *correlator.Time `json:"occupancy_since"`
	LastHeard      *correlator.Time `json:"last_heard"`
	Instances      []NodeInstance   `json:"instances"`
	Assignments    []Assignment     `json:"assignments"`
	// Drift is where a view shows another occupancy than there is, for longer than its grace, whether or not anybody holds the node.
	Drift []correlator.Drift `json:"drift"`
	// Shown is what each view showed last of its occupancy.
	Shown []Shown `json:"-"`
}

// Shown is what a view shows of a node's occupancy.
type Shown struct {
	Projection, Occupancy string
	At                    correlator.Time
}

// NodeInstance is one installation of a node; From and To are nil where they are not known, or not yet.
type NodeInstance struct {
	ID   string           `json:"node_instance_id"`
	From *correlator.Time `json:"from"`
	To   *correlator.Time `json:"to"`
}

// Assignment is when an allocation held a node.
type Assignment struct {
	ID   string           `json:"allocation_id"`
	From *correlator.Time `json:"from"`
	To   *correlator.Time `json:"to"`
}

// SourceHeard is when a source was heard of last, and what it says of its layer.
type SourceHeard struct {
	Service, Scope, Layer string
	Last                  int64
}

// SourceFigures are what a source sent in a window.
type SourceFigures struct {
	Service                           string
	Records, Errors, Unresolved       uint64
	Lag, Ahead                        float64 // seconds
	Allocation, Workflow, Correlation uint64  // records that carry, or were stamped with, one
	NodeCovered, NodeInstanceCovered  uint64
}

// Source is who sends telemetry.
type Source struct {
	Source        string             `json:"source"`
	Layer         string             `json:"layer"`
	Alive         bool               `json:"alive"`
	LastHeard     correlator.Time    `json:"last_heard"`
	SilentSeconds int64              `json:"silent_seconds"`
	Records       uint64             `json:"records"`
	Errors        uint64             `json:"errors"`
	Lag           float64            `json:"lag_seconds"`
	Ahead         float64            `json:"ahead_seconds"`
	Unresolved    uint64             `json:"unresolved"`
	Coverage      map[string]float64 `json:"coverage"`
}

// SourceList lists the sources of the last day.
type SourceList struct {
	AsOf    correlator.Time `json:"as_of"`
	Window  int64           `json:"window_seconds"` // of what the figures are
	Sources []Source        `json:"sources"`
}

// Layer is one layer of the profile, and how it stands.
type Layer struct {
	Layer     string           `json:"layer"`
	Owner     profile.Owner    `json:"owner"`
	Sources   []string         `json:"sources"`
	LastHeard *correlator.Time `json:"last_heard"`
	Silent    bool             `json:"silent"`
	Blamed    int              `json:"blamed"` // allocations with an open fault of it
	Stuck     int              `json:"stuck"`  // allocations that wait for its move
}

// LayerList lists the layers in the profile's order.
type LayerList struct {
	AsOf   correlator.Time `json:"as_of"`
	Layers []Layer         `json:"layers"`
}

// ProviderFigures are how the jobs of one provider and operation went.
type ProviderFigures struct {
	Provider  string  `json:"provider"`
	Operation string  `json:"operation"`
	Jobs      uint64  `json:"jobs"`
	Succeeded uint64  `json:"succeeded"`
	Failed    uint64  `json:"failed"`
	Canceled  uint64  `json:"canceled"`
	Open      uint64  `json:"open"`
	Wait      *Spread `json:"wait"`
	Run       *Spread `json:"run"`
}

// Spread is how long something took, in seconds; nil where none was measured.
type Spread struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// ProviderComparison has providers side by side.
type ProviderComparison struct {
	From      correlator.Time   `json:"from"`
	To        correlator.Time   `json:"to"`
	Providers []ProviderFigures `json:"providers"`
}
