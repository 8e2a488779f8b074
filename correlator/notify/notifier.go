package notify

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
)

// Source gives what incidents are made of; query.Service does.
type Source interface {
	Assessments(ctx context.Context, asOf int64) (list []correlator.Assessment, examined int, err error)
}

// receiver is somebody who is told.
type receiver interface {
	name() string
	// tell says which incidents are open and which are over; it is told again what it did not take.
	tell(ctx context.Context, all []incident.Incident, now time.Time) error
}

// Notifier tells of incidents.
type Notifier struct {
	cfg       Config
	from      Source
	receivers []receiver
	log       *slog.Logger
	now       func() time.Time
	failing   map[string]bool // receivers, and whether that was said

	told *prometheus.CounterVec
	last *prometheus.GaugeVec
}

// New gives a notifier. page is the URL under which people find the page; metrics go to reg.
func New(cfg Config, from Source, page string, log *slog.Logger, reg prometheus.Registerer) *Notifier {
	f := promauto.With(reg)
	n := &Notifier{
		cfg: cfg, from: from, log: log, now: time.Now, failing: map[string]bool{},
		told: f.NewCounterVec(prometheus.CounterOpts{
			Name: "faultline_notify_tries_total", Help: "Tries to tell a receiver of incidents, by how they ended.",
		}, []string{"receiver", "result"}),
		last: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "faultline_notify_last_success_timestamp_seconds", Help: "When a receiver took what it was told for the last time.",
		}, []string{"receiver"}),
	}
	client := &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	page = strings.TrimSuffix(page, "/")
	for _, where := range cfg.Alertmanager {
		n.receivers = append(n.receivers, newAlertmanager(where, page, cfg.Every, client))
	}
	if cfg.Webhook != "" {
		n.receivers = append(n.receivers, newWebhook(cfg.Webhook, page, client))
	}
	return n
}

// Run tells until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	tick := time.NewTicker(n.cfg.Every)
	defer tick.Stop()
	for {
		n.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look tells every receiver how incidents stand. One that is away keeps nobody else waiting for longer than a request may take.
func (n *Notifier) look(ctx context.Context) {
	list, _, err := n.from.Assessments(ctx, 0)
	if err != nil {
		n.result("store", err)
		return
	}
	n.result("store", nil)
	var all []incident.Incident
	for _, in := range incident.Group(list, n.now().UnixNano(), incident.Window) {
		if len(in.Victims) >= n.cfg.Victims {
			all = append(all, in)
		}
	}
	for _, r := range n.receivers {
		err := r.tell(ctx, all, n.now())
		if ctx.Err() != nil {
			return
		}
		n.result(r.name(), err)
	}
}

// result counts how a try ended, and says when that changes.
func (n *Notifier) result(of string, err error) {
	if of != "store" {
		result := "taken"
		if err != nil {
			result = "failed"
		} else {
			n.last.WithLabelValues(of).Set(float64(n.now().Unix()))
		}
		n.told.WithLabelValues(of, result).Inc()
	}
	switch {
	case err != nil && !n.failing[of]:
		n.log.Warn("incidents are not told of; it is tried again", "receiver", of, "error", err)
	case err == nil && n.failing[of]:
		n.log.Info("incidents are told of again", "receiver", of)
	}
	n.failing[of] = err != nil
}
