package lifecycle

// Phases of a provider's job, as the controller sees it. How the provider says that the job stands (Pending
// to Unknown) is what was observed of it, and may change in any way.
const (
	JobWanted    = "wanted"    // nothing was sent
	JobLaunching = "launching" // a launch was sent, or is about to be; its answer is not known
	JobFollowing = "following" // it has an id
	JobEnded     = "ended"     // nothing more is asked
)

// JobFacts are what guards of providers' jobs look at.
type JobFacts struct {
	Named    bool // the provider has given it an id
	Canceled bool // its end is wanted
	Settled  bool // how it ended is known, or nobody waits for it any more
}

// JobMove is one line of the table of a provider's job.
type JobMove = Move[JobFacts]

// jobMoves is the whole state machine. A launch is written down before it is sent, so the only way to a second one
// leads through the provider's clear word that the first one came to nothing.
var jobMoves = []JobMove{
	{"", JobWanted, "workflow step", nil},
	{JobWanted, JobLaunching, "a launch is about to be sent", notCanceled},
	{JobWanted, JobEnded, "canceled before it was sent", settled},
	{JobLaunching, JobWanted, "clearly refused, or surely not there", unnamed},
	{JobLaunching, JobFollowing, "answered, or found again", hasName},
	{JobLaunching, JobEnded, "refused for good, skipped, or never found", settled},
	{JobFollowing, JobEnded, "over, or given up on", settled},
	{JobEnded, JobLaunching, "its end is wanted after all: looked for", unnamed},
	{JobEnded, JobFollowing, "its end is wanted after all", hasName},
}

// MoveJob reports whether the job may go from one phase to another, nil if it may.
func MoveJob(key, from, to string, f JobFacts) error {
	return decide(jobMoves, OfJob, key, from, to, f, "")
}

// Guards of jobs.
var (
	notCanceled = guard("not_canceled", JobCanceled, func(f JobFacts) bool { return !f.Canceled })
	hasName     = guard("has_id", JobUnknown, func(f JobFacts) bool { return f.Named })
	unnamed     = guard("has_no_id", JobNamed, func(f JobFacts) bool { return !f.Named })
	settled     = guard("result_known", ResultOpen, func(f JobFacts) bool { return f.Settled })
)
