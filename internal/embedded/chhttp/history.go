package chhttp

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// historyText is how much of a statement is remembered, in bytes.
const historyText = 1024

// Record is one finished statement: system.query_log, which the engine lacks.
type Record struct {
	QueryID   string        `json:"query_id"`
	Started   time.Time     `json:"started"`
	Duration  time.Duration `json:"duration_ns"`
	Database  string        `json:"database"`
	Statement string        `json:"statement"` // its beginning; parameters are not in it
	// Exact says that ReadRows and ReadBytes are: those of a streamed SELECT are a lower bound. Ask with
	// wait_end_of_query=1 where they must be exact; the result is then held in memory.
	Exact     bool   `json:"exact"`
	ReadRows  uint64 `json:"read_rows"`
	ReadBytes uint64 `json:"read_bytes"`

	ResultRows   uint64 `json:"result_rows"`
	ResultBytes  uint64 `json:"result_bytes"`
	WrittenRows  uint64 `json:"written_rows"`
	WrittenBytes uint64 `json:"written_bytes"`
	Code         int    `json:"code"` // the exception's, 0 for success
	Error        string `json:"error,omitempty"`
}

func (r *Record) add(s chdb.Stats) {
	r.ReadRows, r.ReadBytes = s.ReadRows, s.ReadBytes
	r.ResultRows, r.ResultBytes = s.ResultRows, s.ResultBytes
	r.WrittenRows, r.WrittenBytes = s.WrittenRows, s.WrittenBytes
}

// history is a ring of the last statements.
type history struct {
	mu   sync.Mutex
	ring []Record
	next int
}

func newHistory(n int) *history { return &history{ring: make([]Record, 0, n)} }

func (h *history) add(r Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ring) < cap(h.ring) {
		h.ring = append(h.ring, r)
		return
	}
	h.ring[h.next] = r
	h.next = (h.next + 1) % len(h.ring)
}

// list returns the statements oldest first; id "" is all of them.
func (h *history) list(id string) []Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := []Record{}
	for n := range h.ring {
		r := h.ring[(h.next+n)%len(h.ring)]
		if id == "" || r.QueryID == id {
			out = append(out, r)
		}
	}
	return out
}

// serve answers GET /faultline/queries[?query_id=…].
func (h *history) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"queries": h.list(r.URL.Query().Get("query_id"))})
}
