package lab

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Versions of the API.
const (
	goodVersion = "2026.11.3"
	badVersion  = "2026.11.4"
)

func rolloutFaults() []Fault {
	return []Fault{{
		Name: "bad_rollout", Layer: "deploy", Mechanism: "config", Expected: expectAttributed, ShowsIn: []string{"deploy", "api", "ingress", "client"},
		Description: "a rollout brings an API that wants a setting which its configuration does not have",
		inject: func(l *lab, _ target) (func() error, error) {
			settings, err := readSettings(l.config.Data) // as the new version does when it starts
			if err != nil {
				return nil, err
			}
			l.rollOut(goodVersion, badVersion)
			m := func(_ http.ResponseWriter, r *http.Request) (int, error) {
				if r.Method == http.MethodGet {
					return 0, nil
				}
				err := settings.checkQuota(r.Context(), l.control.client)
				if err == nil {
					return 0, nil
				}
				l.api.emitter.Log(r.Context(), telemetry.Error, "check quota: "+err.Error(), slog.String(semconv.ErrorType, "config"))
				return http.StatusInternalServerError, errors.New("internal error")
			}
			l.api.mishap.Store(&m)
			return func() error {
				l.api.mishap.Store(nil)
				l.rollOut(badVersion, goodVersion)
				return nil
			}, nil
		},
	}}
}

// rollOut is the deployer's word for a change of the API's version.
func (l *lab) rollOut(from, to string) {
	l.exporter.Emitter("deployer").Event(context.Background(), semconv.EventDeploy, slog.String(semconv.Component, "fulfillment-api"),
		slog.String(semconv.Version, to), slog.String(semconv.From, from), slog.String(semconv.To, to))
}

func viewFaults() []Fault {
	return []Fault{{
		Name: "projection_stopped", Layer: "projection", Mechanism: "stale", Expected: expectAttributed, ShowsIn: []string{"projection"}, meets: byView,
		Description: "nothing refreshes the user interface's view; who looks sees what was",
		inject: func(l *lab, _ target) (func() error, error) {
			l.viewStopped.Store(true)
			return func() error { l.viewStopped.Store(false); return nil }, nil
		},
	}}
}
