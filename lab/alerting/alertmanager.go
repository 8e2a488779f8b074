package alerting

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/correlator/notify"
)

// Alertmanager is the base URL of one that runs.
type Alertmanager string

// Alert is one that fires (Alertmanager's API v2: gettableAlert).
type Alert struct {
	Labels   map[string]string `json:"labels"`
	StartsAt time.Time         `json:"startsAt"`
}

// watchdog fires always.
const watchdog = "FaultlineWatchdog"

// Name is which alert it is.
func (a Alert) Name() string { return a.Labels["alertname"] }

// incident says whether it was told of by the correlator.
func (a Alert) incident() bool { return a.Name() == notify.AlertName }

// Firing lists what fires, the watchdog left out, whether it is inhibited or not.
func (m Alertmanager) Firing(ctx context.Context) (out []Alert, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, string(m)+"/api/v2/alerts?active=true&silenced=true&inhibited=true", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask Alertmanager what fires: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask Alertmanager what fires: %s", answer.Status)
	}
	var all []Alert
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		return nil, fmt.Errorf("ask Alertmanager what fires: %w", err)
	}
	for _, a := range all {
		if a.Name() != watchdog {
			out = append(out, a)
		}
	}
	return out, nil
}
