package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/lab/score"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// fileJudge judges what has been written to files so far, as faultline analyze would.
type fileJudge struct {
	profile *profile.Profile
	files   []string

	mu      sync.Mutex
	read    map[string]int64 // bytes, by file
	records []*record.Record
	judged  time.Time
	took    time.Duration // the last judgement's reading: it grows with the run
	cases   map[string]*correlator.Case
	said    map[string][]score.Ruling // by allocation
}

func newFileJudge(p *profile.Profile, files []string) *fileJudge {
	return &fileJudge{profile: p, files: files, read: map[string]int64{}, said: map[string][]score.Ruling{}}
}

// Rule implements score.Judge.
func (j *fileJudge) Rule(_ context.Context, id string) ([]score.Ruling, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.gather(); err != nil || j.cases[id] == nil {
		return j.said[id], err
	}
	v := j.cases[id].Allocation(rules.All()).Verdict
	r := score.Ruling{Outcome: v.Outcome, Blames: blames(v), At: time.Now()}
	if said := j.said[id]; len(said) == 0 || inWords(said[len(said)-1]) != inWords(r) {
		j.said[id] = append(said, r)
	}
	return j.said[id], nil
}

// Trouble implements score.Judge.
func (j *fileJudge) Trouble(_ context.Context, id string) ([]time.Time, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.gather(); err != nil || j.cases[id] == nil {
		return nil, err
	}
	return troubleIn(j.cases[id].Allocation(rules.All())), nil
}

// Alarms implements score.Judge.
func (j *fileJudge) Alarms(ctx context.Context, id string) ([]score.Ruling, error) {
	said, err := j.Rule(ctx, id)
	return alarms(said), err
}

// alarms are what was said of an allocation but "none".
func alarms(said []score.Ruling) (out []score.Ruling) {
	for _, r := range said {
		if r.Outcome != correlator.None {
			out = append(out, r)
		}
	}
	return out
}

// gather reads what is new, and no more than a third of the time.
func (j *fileJudge) gather() error {
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
	for _, c := range correlator.Gather(fresh, nil, j.profile, correlator.Moment{}).Cases() {
		j.cases[c.ID] = c
	}
	j.judged, j.took = time.Now(), time.Since(began)
	return nil
}

// follow reads the whole lines that a file has more than when it was last read.
func (j *fileJudge) follow(name string) error {
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

// serverJudge asks a running correlator what it has said by itself, as records arrived: what somebody would have been
// told who looked then.
type serverJudge struct{ question }

// Rule implements score.Judge.
func (j *serverJudge) Rule(ctx context.Context, id string) ([]score.Ruling, error) {
	said, err := j.history(ctx, id)
	if err != nil && ctx.Err() == nil {
		return nil, nil // the server is away: nothing is known yet
	}
	return said, err
}

// Trouble implements score.Judge.
func (j *serverJudge) Trouble(ctx context.Context, id string) ([]time.Time, error) {
	var a correlator.Allocation
	err := j.get(ctx, "/api/v1/allocations/"+url.PathEscape(id), &a)
	if r := (refusal{}); errors.As(err, &r) && r.status == http.StatusNotFound {
		return nil, nil
	}
	return troubleIn(a), err
}

// Alarms implements score.Judge.
func (j *serverJudge) Alarms(ctx context.Context, id string) ([]score.Ruling, error) {
	said, err := j.history(ctx, id)
	return alarms(said), err
}

// history is what was ever said of an allocation, the oldest first; nothing where nothing is known of it.
func (j *serverJudge) history(ctx context.Context, id string) (said []score.Ruling, err error) {
	var h api.History
	err = j.get(ctx, "/api/v1/allocations/"+url.PathEscape(id)+"/history?limit=1000", &h)
	if r := (refusal{}); errors.As(err, &r) && r.status == http.StatusNotFound {
		return nil, nil
	}
	for _, r := range h.Revisions {
		v := r.Standing.Verdict
		said = append(said, score.Ruling{Outcome: v.Outcome, Blames: blames(v), At: time.Unix(0, int64(r.JudgedAt))})
	}
	return said, err
}

// troubleIn are the times of an allocation's failure records, and of the lapses of what was owed.
func troubleIn(a correlator.Allocation) (out []time.Time) {
	for _, e := range a.Timeline {
		if e.Kind == "gap" || e.Severity == "error" || e.Severity == "fatal" {
			out = append(out, time.Unix(0, int64(e.Time)))
		}
	}
	return out
}

// blames are the owners that a verdict names, each once, the strongest first.
func blames(v correlator.Verdict) []string {
	var out []string
	for _, f := range v.Faults {
		if b := f.Layer + "/" + f.Mechanism; len(out) == 0 || out[len(out)-1] != b {
			out = append(out, b)
		}
	}
	return out
}

func inWords(r score.Ruling) string {
	return strings.Join(append([]string{r.Outcome}, r.Blames...), " ")
}
