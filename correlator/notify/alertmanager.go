package notify

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
)

// AlertName is the alert that stands for an incident.
const AlertName = "FaultlineIncident"

// lasting is for how many looks an alert stands that nobody repeats: Prometheus lets four evaluations go by.
const lasting = 4

// mostAlerts is how many alerts one request has.
const mostAlerts = 200

// alert is one of Alertmanager's API v2 (openapi: postableAlert).
type alert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL"`
}

// alertmanager is told of all open incidents each time, as Prometheus tells it of all firing alerts.
type alertmanager struct {
	shown, address, page string
	every                time.Duration
	client               *http.Client
	open                 map[string]alert // what it was told is open, by incident
}

func newAlertmanager(where, page string, every time.Duration, client *http.Client) *alertmanager {
	shown := "alertmanager"
	if u, err := url.Parse(where); err == nil {
		shown += " " + u.Host
	}
	return &alertmanager{shown, strings.TrimSuffix(where, "/") + "/api/v2/alerts", page, every, client, map[string]alert{}}
}

func (a *alertmanager) name() string { return a.shown }

func (a *alertmanager) tell(ctx context.Context, all []incident.Incident, now time.Time) error {
	open := map[string]alert{}
	var said []alert
	for i := range all {
		if in := &all[i]; in.Open {
			one := a.alert(in, now)
			open[in.ID] = one
			said = append(said, one)
		}
	}
	for id, one := range a.open {
		if still, goes := open[id]; !goes || !maps.Equal(still.Labels, one.Labels) {
			one.EndsAt = now // over, found to be part of another, or another alert by now
			said = append(said, one)
		}
	}
	for len(said) > 0 {
		part := said[:min(len(said), mostAlerts)]
		if err := post(ctx, a.client, a.address, part); err != nil {
			for id, one := range open {
				a.open[id] = one // it may have been taken all the same
			}
			return err
		}
		said = said[len(part):]
	}
	a.open = open
	return nil
}

// alert is what an incident looks like to Alertmanager. Its labels say which it is: where one changes, the alert before ends.
func (a *alertmanager) alert(in *incident.Incident, now time.Time) alert {
	owner := in.Owner.Team
	if owner == "" {
		owner = "nobody"
	}
	begun := time.Unix(0, int64(in.FirstSeen)).UTC()
	if begun.After(now) {
		begun = now // a clock that is ahead: what has not begun yet would be refused
	}
	link := a.page + "/ui/incidents/" + url.PathEscape(in.ID)
	one := alert{
		Labels: map[string]string{"alertname": AlertName, "incident_id": in.ID, "layer": in.Layer, "owner": owner, "severity": severity(in)},
		Annotations: map[string]string{
			"summary":     fmt.Sprintf("%s: %s; %s", in.Layer, in.Summary, plural(len(in.Victims), "allocation")),
			"description": described(in),
			"mechanism":   in.Mechanism, "confidence": in.Confidence, "next_check": in.NextCheck, "safe_action": in.SafeAction, "page": link,
		},
		StartsAt: begun, EndsAt: now.Add(lasting * a.every), GeneratorURL: link,
	}
	if in.Owner.Runbook != "" {
		one.Annotations["runbook_url"] = in.Owner.Runbook
	}
	return one
}

// severity is critical where it is known whose an incident is: somebody can act.
func severity(in *incident.Incident) string {
	if in.Contested || in.Confidence == correlator.Low {
		return "warning"
	}
	return "critical"
}

// mostVictims is how many an alert names.
const mostVictims = 20

func described(in *incident.Incident) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s at %s %s, %s confidence", in.Layer, in.Mechanism, in.Subject.Kind, strings.Join(in.Subject.IDs[:min(4, len(in.Subject.IDs))], ", "), in.Confidence)
	if in.Contested {
		b.WriteString(", contested: another layer has equal evidence")
	}
	b.WriteString(". Hit: ")
	for i, v := range in.Victims[:min(mostVictims, len(in.Victims))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(v.ID)
	}
	if more := len(in.Victims) - mostVictims; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	b.WriteString(".")
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
