package score

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// FileJudge judges what has been written to files so far, as faultline analyze would.
type FileJudge struct {
	profile *profile.Profile
	files   []string

	mu      sync.Mutex
	read    map[string]int64 // bytes, by file
	records []*record.Record
	judged  time.Time
	took    time.Duration // the last judgement's reading: it grows with the run
	cases   map[string]*correlator.Case
	said    map[string][]Ruling // by allocation
}

// NewFileJudge judges by a profile what stands in files; they need not exist yet.
func NewFileJudge(p *profile.Profile, files []string) *FileJudge {
	return &FileJudge{profile: p, files: files, read: map[string]int64{}, said: map[string][]Ruling{}}
}

// Rule implements Judge.
func (j *FileJudge) Rule(_ context.Context, id string) ([]Ruling, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.gather(); err != nil || j.cases[id] == nil {
		return j.said[id], err
	}
	v := j.cases[id].WithTimeline(correlator.Judge(j.cases[id], rules.All())).Verdict
	r := Ruling{Outcome: v.Outcome, Blames: blames(v), At: time.Now()}
	if said := j.said[id]; len(said) == 0 || inWords(said[len(said)-1]) != inWords(r) {
		j.said[id] = append(said, r)
	}
	return j.said[id], nil
}

// Trouble implements Judge.
func (j *FileJudge) Trouble(_ context.Context, id string) ([]time.Time, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.gather(); err != nil || j.cases[id] == nil {
		return nil, err
	}
	return troubleIn(j.cases[id].WithTimeline(correlator.Judge(j.cases[id], rules.All()))), nil
}

// Alarms implements Judge.
func (j *FileJudge) Alarms(ctx context.Context, id string) ([]Ruling, error) {
	said, err := j.Rule(ctx, id)
	return alarms(said), err
}

// TaskActions implements Judge.
func (j *FileJudge) TaskActions(_ context.Context, id string) (out []TaskAction, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.gather(); err != nil || j.cases[id] == nil {
		return nil, err
	}
	for _, e := range j.cases[id].Events {
		out = addAction(out, query.Full(e))
	}
	return out, nil
}

// gather reads what is new, and no more than a third of the time.
func (j *FileJudge) gather() error {
	if time.Since(j.judged) < max(time.Second, 3*j.took) {
		return nil
	}
	began := time.Now()
	for _, name := range j.files {
		if err := j.follow(name); err != nil {
			return err
		}
	}
	fresh := make([]*record.Record, len(j.records)) // a gathering writes its keys into the records
	for i, r := range j.records {
		one := *r
		fresh[i] = &one
	}
	j.cases = map[string]*correlator.Case{}
	for _, c := range correlator.NewDataset(fresh, nil, j.profile, correlator.AsOf{}).Cases() {
		j.cases[c.ID] = c
	}
	j.judged, j.took = time.Now(), time.Since(began)
	return nil
}

// follow reads the whole lines that a file has more than when it was last read.
func (j *FileJudge) follow(name string) error {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(j.read[name], io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	j.read[name] += int64(len(text))
	var rejected error
	reader := otlpfile.Reader{
		Stdin: bytes.NewReader(text), Record: func(r *record.Record) { j.records = append(j.records, r) },
		Reject: func(r otlpfile.Rejection) { rejected = fmt.Errorf("%s: %s", name, r.Reason) },
	}
	if err := reader.ReadFile(otlpfile.Stdin); err != nil {
		return err
	}
	return rejected
}
