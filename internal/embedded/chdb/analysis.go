package chdb

// Class is what a statement does to state that outlives it. Values are chdb_query_class of chdb.h, ascending by how
// restricted the statement is.
type Class uint32

// The classes. Unknown did not parse: treat it as a refusal.
const (
	ReadOnly Class = iota
	Mutating
	MutatingGlobal
	Control
	Unknown
)

// Analysis is what a text holds. Statements is 0 for what does not parse, and counts the arms of PARALLEL WITH.
type Analysis struct {
	Statements int
	Flags      uint32
	Class      Class
}

// Stats are a statement's totals. Read* count rows and bytes taken from storage, Result* what was returned,
// Written* include what materialized views wrote.
type Stats struct {
	ResultRows, ResultBytes   uint64
	ReadRows, ReadBytes       uint64
	WrittenRows, WrittenBytes uint64
}

// Add sums two parts of one statement.
func (s Stats) Add(o Stats) Stats {
	return Stats{
		s.ResultRows + o.ResultRows, s.ResultBytes + o.ResultBytes,
		s.ReadRows + o.ReadRows, s.ReadBytes + o.ReadBytes,
		s.WrittenRows + o.WrittenRows, s.WrittenBytes + o.WrittenBytes,
	}
}
