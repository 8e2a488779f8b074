package score

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/product"
)

// ServerJudge asks a running correlator what it has said by itself, as records arrived: what somebody would have been
// told who looked then.
type ServerJudge struct {
	Server product.Server
}

// Rule implements Judge.
func (j *ServerJudge) Rule(ctx context.Context, id string) ([]Ruling, error) {
	said, err := j.history(ctx, id)
	if err != nil && ctx.Err() == nil {
		return nil, nil // the server is away: nothing is known yet
	}
	return said, err
}

// Trouble implements Judge.
func (j *ServerJudge) Trouble(ctx context.Context, id string) ([]time.Time, error) {
	var a correlator.Allocation
	err := j.Server.Get(ctx, "/api/v1/allocations/"+url.PathEscape(id), &a)
	if errors.Is(err, product.ErrUnknown) {
		return nil, nil
	}
	return troubleIn(a), err
}

// Alarms implements Judge.
func (j *ServerJudge) Alarms(ctx context.Context, id string) ([]Ruling, error) {
	said, err := j.history(ctx, id)
	return alarms(said), err
}

// history is what was ever said of an allocation, the oldest first; nothing where nothing is known of it.
func (j *ServerJudge) history(ctx context.Context, id string) (said []Ruling, err error) {
	var h api.History
	err = j.Server.Get(ctx, "/api/v1/allocations/"+url.PathEscape(id)+"/history?limit=1000", &h)
	if errors.Is(err, product.ErrUnknown) {
		return nil, nil
	}
	for _, r := range h.Revisions {
		v := r.Assessment.Verdict
		said = append(said, Ruling{Outcome: v.Outcome, Blames: blames(v), At: time.Unix(0, int64(r.JudgedAt))})
	}
	return said, err
}

// TaskActions implements Judge.
func (j *ServerJudge) TaskActions(ctx context.Context, id string) (out []TaskAction, err error) {
	q := url.Values{semconv.AllocationID: {id}, "limit": {"1000"}}
	for {
		var page api.Events
		err := j.Server.Get(ctx, "/api/v1/events?"+q.Encode(), &page)
		if errors.Is(err, product.ErrUnknown) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			out = addAction(out, e)
		}
		if page.Next == nil {
			return out, nil
		}
		q.Set("cursor", *page.Next)
	}
}
