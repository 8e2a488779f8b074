package lokiexporter

// Why Loki will never take an entry: the label reason of faultline_loki_exporter_entries_refused_total.
const (
	refusedTooOld   = "too_old"
	refusedTooNew   = "too_new"
	refusedBehind   = "too_far_behind"
	refusedLine     = "line_too_long"
	refusedMetadata = "metadata"
	refusedLabels   = "labels"
	refusedSize     = "push_too_large"
	refusedBlocked  = "blocked"
	refusedOther    = "other"
)

// remedies say what to do; they stand in the log beside Loki's own words.
var remedies = map[string]string{
	refusedTooOld:   "older than Loki takes (limits_config.reject_old_samples_max_age, a week by default): raise it if lines of an outage are missing in Loki",
	refusedTooNew:   "the sender's clock is ahead by more than limits_config.creation_grace_period (ten minutes by default): set the clock",
	refusedBehind:   "older than half of ingester.max_chunk_age (an hour by default) beside the newest line of its stream: raise max_chunk_age, or give late senders a label of their own",
	refusedLine:     "longer than limits_config.max_line_size: lower max_line_bytes of this exporter to it, and lines are cut instead",
	refusedMetadata: "more structured metadata than Loki takes: lower max_metadata_bytes and max_metadata_entries of this exporter to limits_config.max_structured_metadata_size and max_structured_metadata_entries_count",
	refusedLabels:   "the labels of the stream are not such as Loki takes: look at labels of this exporter, and at limits_config.enforced_labels and its limits of labels",
	refusedSize:     "one line is larger than Loki, or a proxy before it, takes in a request: raise that limit, or lower max_line_bytes of this exporter",
	refusedBlocked:  "ingestion is blocked by limits_config.block_ingestion_until; what came meanwhile is not in Loki",
	refusedOther:    "Loki, or a proxy before it, refuses this line and takes its neighbours: its own words say why",
}

// What was changed so that Loki can take it: the label reason of faultline_loki_exporter_values_clipped_total.
const (
	clippedLine     = "line"
	clippedLabel    = "label"
	clippedMetadata = "metadata"
	clippedUTF8     = "utf8"
	clippedTime     = "time"
	clippedNumber   = "number"
)
