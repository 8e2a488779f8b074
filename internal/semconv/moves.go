package semconv

// AllocationMoves is the table of legal moves between allocation states; the guards on them are the
// provisioner's. "" is the state before an allocation exists.
var AllocationMoves = map[string][]string{
	"":            {Requested},
	Requested:     {Reserved, Canceled, Failed},
	Reserved:      {Provisioning, Canceled, Failed},
	Provisioning:  {Active, Failed, Canceling},
	Canceling:     {Releasing, Canceled},
	Active:        {Degraded, Releasing},
	Degraded:      {Active, Releasing},
	Failed:        {Releasing},
	Releasing:     {Released, ReleaseFailed, Canceled},
	ReleaseFailed: {Releasing, Released},
	Released:      {},
	Canceled:      {},
}

// LegalMove says whether a stated move is in the table. A repeat is no move.
func LegalMove(from, to string) bool {
	if from == to {
		return true
	}
	for _, s := range AllocationMoves[from] {
		if s == to {
			return true
		}
	}
	return false
}
