package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/faultline-io/faultline/internal/bearer"
)

// Where a verdict came from.
const (
	FromCaller = "caller"
	FromQuery  = "query" // the correlator was asked
	FromNobody = "none"
)

// Verdict is what justified an action: whose fault it was held to be when somebody acted. Absence is
// allowed, and says why.
type Verdict struct {
	Source       string `json:"source,omitempty"` // caller, query, none; callers need not say it
	ID           string `json:"id,omitempty"`
	Outcome      string `json:"outcome,omitempty"`
	Layer        string `json:"layer,omitempty"`
	Mechanism    string `json:"mechanism,omitempty"`
	Owner        string `json:"owner,omitempty"`
	Summary      string `json:"summary,omitempty"`
	AsOf         string `json:"as_of,omitempty"`
	RulesVersion string `json:"rules_version,omitempty"`
	Absent       string `json:"absent,omitempty"` // why there is none
}

// Verdicts finds the verdict on an allocation.
type Verdicts interface {
	Of(ctx context.Context, allocation string) (Verdict, error)
}

// correlator asks a correlator's REST API.
type correlator struct {
	base      string
	tokenFile string
	client    *http.Client
}

// maxVerdict bounds the answer that is read.
const maxVerdict = 1 << 20

func (c correlator) Of(ctx context.Context, allocation string) (v Verdict, err error) {
	at := strings.TrimSuffix(c.base, "/") + "/api/v1/allocations/" + url.PathEscape(allocation) + "/verdict"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return v, err
	}
	if c.tokenFile != "" {
		token, err := bearer.Token(c.base, c.tokenFile)
		if err == nil {
			err = bearer.Authorize(r, token)
		}
		if err != nil {
			return v, fmt.Errorf("recovery.verdicts_token_file: %w", err)
		}
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return v, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return v, fmt.Errorf("the correlator answered %s", answer.Status)
	}
	var judged struct {
		Verdict struct {
			Outcome      string `json:"outcome"`
			Explanation  string `json:"explanation"`
			AsOf         string `json:"as_of"`
			RulesVersion string `json:"rules_version"`
			Faults       []struct {
				Layer     string `json:"layer"`
				Mechanism string `json:"mechanism"`
				Summary   string `json:"summary"`
				Owner     struct {
					Team string `json:"team"`
				} `json:"owner"`
			} `json:"faults"`
		} `json:"verdict"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxVerdict)).Decode(&judged); err != nil {
		return v, fmt.Errorf("read the verdict: %w", err)
	}
	j := judged.Verdict
	v = Verdict{
		Source: FromQuery, ID: allocation + "@" + j.AsOf, Outcome: j.Outcome, Summary: j.Explanation, AsOf: j.AsOf, RulesVersion: j.RulesVersion,
	}
	if len(j.Faults) > 0 { // the strongest first
		f := j.Faults[0]
		v.Layer, v.Mechanism, v.Owner, v.Summary = f.Layer, f.Mechanism, f.Owner.Team, f.Summary
	}
	return v, nil
}

// justify is the verdict on record: the caller's, else the correlator's, else a word on why there is none.
func (d *Service) justify(ctx context.Context, r Request, allocation string) Verdict {
	switch {
	case r.Verdict != nil:
		v := *r.Verdict
		v.Source = FromCaller
		return v
	case allocation == "":
		return Verdict{Source: FromNobody, Absent: "no allocation, so nothing that could be judged"}
	case d.verdicts == nil:
		return Verdict{Source: FromNobody, Absent: "the caller brought none, and no correlator is configured (recovery.verdicts)"}
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.VerdictTime)
	defer cancel()
	v, err := d.verdicts.Of(ctx, allocation)
	if err != nil {
		return Verdict{Source: FromNobody, Absent: "the correlator was asked in vain: " + err.Error()}
	}
	return v
}
