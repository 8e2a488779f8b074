package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/lab/score"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Deeds implements score.Judge.
func (j *fileJudge) Deeds(_ context.Context, id string) (out []score.Deed, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.gather(); err != nil || j.cases[id] == nil {
		return nil, err
	}
	for _, e := range j.cases[id].Events {
		out = addDeed(out, e.Full())
	}
	return out, nil
}

// Deeds implements score.Judge.
func (j *serverJudge) Deeds(ctx context.Context, id string) (out []score.Deed, err error) {
	q := url.Values{semconv.AllocationID: {id}, "limit": {"1000"}}
	for {
		var page api.Events
		err := j.get(ctx, "/api/v1/events?"+q.Encode(), &page)
		if r := (refusal{}); errors.As(err, &r) && r.status == http.StatusNotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			out = addDeed(out, e)
		}
		if page.Next == nil {
			return out, nil
		}
		q.Set("cursor", *page.Next)
	}
}

// addDeed adds what a record tells of a task: a move, or an agent's request about it.
func addDeed(all []score.Deed, e correlator.FullEvent) []score.Deed {
	at := time.Unix(0, int64(e.Time))
	d := score.Deed{Claim: e.Attributes[semconv.ClaimID], At: at, End: at}
	switch {
	case d.Claim == "":
		return all
	case e.Name == semconv.EventTaskState:
		d.Move = e.Attributes[semconv.To]
		d.LeaseUntil, _ = time.Parse(time.RFC3339Nano, e.Attributes[semconv.LeaseUntil]) // zero where there is none
	case e.End != nil && e.Layer == semconv.LayerNodeAgent && (e.Name == "renew" || e.Name == "result"):
		d.End, d.Failed = time.Unix(0, int64(*e.End)), e.Status == "error"
	default:
		return all
	}
	return append(all, d)
}
