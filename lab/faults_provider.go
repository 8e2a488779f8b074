package lab

import (
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
)

func providerFaults() []Fault {
	chosen := func(template string) func(*lab, target) (func() error, error) {
		return func(l *lab, _ target) (func() error, error) {
			l.hub.Choose(template)
			return func() error { l.hub.Choose(""); return nil }, nil
		}
	}
	all := []Fault{
		{
			Name: "aap_failed", Layer: "provider", Mechanism: "job", Expected: expectAttributed, ShowsIn: []string{"provider", "workflow"},
			Description: "a task of the create playbook fails", meets: byAAP, story: "aap_healthy", inject: chosen(hubsim.FailTask),
		},
		{
			Name: "aap_pending", Layer: "provider", Mechanism: "capacity", Expected: expectAttributed, ShowsIn: []string{"provider", "workflow"},
			Description: "AAP has no capacity: jobs stay pending for ever", meets: byAAP, story: "aap_healthy", inject: chosen(hubsim.PendingCapacity),
		},
		{
			Name: "aap_unreachable", Layer: "network", Mechanism: "timeout", Expected: expectAttributed, ShowsIn: []string{"workflow"},
			Description: "packets to AAP are dropped: dials are never answered", meets: byAAP, story: "aap_healthy",
			inject: func(l *lab, _ target) (func() error, error) { return l.listeners.aap.vanish() },
		},
		{
			Name: "aap_cancel_ignored", Layer: "provider", Mechanism: "overdue", Expected: expectAttributed, ShowsIn: []string{"provider", "workflow"},
			Description: "AAP answers a cancel with 202, and the job goes on", meets: byAAP, story: "aap_cancel", inject: chosen(hubsim.HangOnCancel),
		},
		{
			Name: "aap_purged", Layer: "provider", Mechanism: "job", Expected: expectUndetermined, ShowsIn: []string{"workflow"},
			Description: "AAP forgets jobs that run: nobody can know how they end", meets: byAAP, story: "aap_healthy", inject: chosen(hubsim.PurgeRunning),
		},
		{
			Name: "aap_template_missing", Layer: "deploy", Mechanism: "content", Expected: expectAttributed, ShowsIn: []string{"provider", "workflow"},
			Description: "the templates were not published: AAP answers that it has none", meets: byAAP, story: "aap_healthy",
			inject: func(l *lab, _ target) (func() error, error) {
				l.aap.Unpublish(true)
				return func() error { l.aap.Unpublish(false); return nil }, nil
			},
		},
		{
			Name: "eda_lost", Layer: "provider", Mechanism: "shutdown", Expected: expectAttributed, ShowsIn: []string{"provider", "workflow"},
			Description: "the activation shuts down: it answers 200 and drops what it was to do, and says so in its own log alone", meets: byEDA, story: "eda_healthy",
			inject: func(l *lab, _ target) (func() error, error) {
				l.eda.Break(edasim.Stopped)
				return func() error { l.eda.Break(edasim.None); return nil }, nil
			},
		},
		{
			Name: "eda_annotation_missing", Layer: "provider", Mechanism: "overdue", Expected: expectUndetermined, ShowsIn: []string{"provider", "workflow"},
			Description: "the create playbook ends well, as EDA says, and never sets its mark: whether it or what was rolled out is to blame nothing tells", meets: byEDA, story: "eda_healthy", inject: chosen(hubsim.NoAnnotation),
		},
	}
	for i := range all {
		all[i].providers = true
	}
	return all
}
