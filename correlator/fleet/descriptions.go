package fleet

import "github.com/prometheus/client_golang/prometheus"

// described is a gauge of the fleet.
type described struct {
	desc *prometheus.Desc
}

// of is its value for labels.
func (d described) of(value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d.desc, prometheus.GaugeValue, value, labels...)
}

var descriptions []described

func gauge(name, help string, labels ...string) described {
	d := described{prometheus.NewDesc("faultline_"+name, help, labels, nil)}
	descriptions = append(descriptions, d)
	return d
}

// Gauges of the fleet. `state` is one of the contract's, or other; `layer` one of the profile's, undetermined where it is not known whose
// the trouble is, or none; `owner` the team that the profile names for the layer, else the layer.
var (
	allocations = gauge("fleet_allocations", "Allocations by state, and by the layer and team whose trouble they are: none where there is none.", "state", "layer", "owner")
	verdicts    = gauge("fleet_verdicts", "Allocations by what is said of them, and by the layer of the strongest open fault; unjudged where nothing is said yet.", "outcome", "layer")
	provided    = gauge("fleet_provider_allocations", "Allocations by provider and state; those of several count for each. At most 20 providers have a name.", "provider", "state")
	faults      = gauge("fleet_provider_faults", "Allocations with an open fault of the provider layer, by provider and rule.", "provider", "rule")
	stuck       = gauge("fleet_stuck_allocations", "Allocations of which a step is owed for longer than it may take and has not come, by state and by whose trouble it is.", "state", "layer", "owner")
	overdue     = gauge("fleet_overdue_seconds", "For how long the step has been overdue that is so the longest, by state; 0 where none is.", "state")
	idle        = gauge("fleet_idle_allocations", "Allocations that are in a state for longer than its budget, and of which nothing was heard for five minutes.", "state")
	oldest      = gauge("fleet_oldest_age_seconds", "For how long the oldest allocation of a state has been in it; 0 where there is none.", "state")
	oldestStart = gauge("fleet_oldest_start_time_seconds", "When the ten oldest allocations of a state came into it, by rank from 1; NaN where there are fewer.", "state", "rank")
	drift       = gauge("fleet_drift", "Views that show something else than the truth for longer than their grace, by projection and field.", "projection", "field")
	orphans     = gauge("fleet_orphans", "Resources that outlived their allocation.")
	incidents   = gauge("fleet_open_incidents", "Incidents that are open, by the layer and team whose they are.", "layer", "owner")
	victims     = gauge("fleet_incident_victims", "Allocations that open incidents have hit and that are not well again.", "layer", "owner")
	countedIn   = gauge("fleet_count_duration_seconds", "How long the last count took.")

	sourceCoverage   = gauge("source_coverage_ratio", "Share of a source's records of the last five minutes that carry an identifier, or were stamped with it. At most 100 sources have a name.", "source", "identifier")
	sourceUnresolved = gauge("source_unresolved_ratio", "Share of a source's records of the last five minutes of which nobody knows whose they are.", "source")
	sourceRecords    = gauge("source_records", "Records of a source in the last five minutes.", "source")
	sourceLag        = gauge("source_lag_seconds", "How long a source's records of the last five minutes were under way into the store.", "source")
	sourceAhead      = gauge("source_ahead_seconds", "How far a source's clock runs ahead of the store's.", "source")
	sourceSilence    = gauge("source_silence_seconds", "For how long a source that was heard of within a day has said nothing.", "source")
	layerSilence     = gauge("layer_silence_seconds", "For how long a layer that was heard of within a day has said nothing.", "layer", "owner")
	layerBlamed      = gauge("layer_blamed_allocations", "Allocations with an open fault of a layer.", "layer", "owner")

	lookAge        = gauge("overview_look_age_seconds", "Since when the overview has not looked at the store with success.")
	judgingBehind  = gauge("overview_judging_behind_seconds", "For how long something that arrived has been waiting to be judged, whoever judges.")
	judgingKeepsUp = gauge("overview_judging_keeps_up", "1 where what is said holds for all but what arrived in the last seconds.")
	pageInfo       = gauge("page_info", "Where people find the page.", "url")
)
