package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Truth is one line of truth.jsonl: what really was the matter with an allocation.
type Truth struct {
	AllocationID string `json:"allocation_id"`
	Story        string `json:"story"`
	Outcome      string `json:"outcome"` // none or attributed
	Layer        string `json:"layer"`
	Mechanism    string `json:"mechanism"`
	Fault        string `json:"fault,omitempty"` // that was injected
}

// TruthFile is the name of the file in the data folder.
const TruthFile = "truth.jsonl"

type truths struct {
	mu   sync.Mutex
	file *os.File
}

func openTruths(dir string) (*truths, error) {
	f, err := os.OpenFile(filepath.Join(dir, TruthFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open truth file: %w", err)
	}
	return &truths{file: f}, nil
}

// write adds the line of a story that has come to its end.
func (t *truths) write(id string, st story) error {
	line := Truth{AllocationID: id, Story: st.name, Outcome: "none", Layer: st.layer, Mechanism: st.mechanism}
	if st.layer != "" {
		line.Outcome = "attributed"
	}
	return t.append(line)
}

// writeFault adds the line of a story that an injected fault has changed.
func (t *truths) writeFault(id string, st story, f Fault) error {
	line := Truth{AllocationID: id, Story: st.name, Outcome: f.Expected, Layer: f.Layer, Mechanism: f.Mechanism, Fault: f.Name}
	if f.Expected != expectAttributed {
		line.Layer, line.Mechanism = "", ""
	}
	return t.append(line)
}

func (t *truths) append(line Truth) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = t.file.Write(append(text, '\n'))
	return err
}

func (t *truths) close() error { return t.file.Close() }
