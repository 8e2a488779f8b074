package storebench

// Question is one that is put to every contender.
type Question string

// The questions. Each is asked of several allocations, nodes or times, drawn from the records.
const (
	ByAllocation  Question = "allocation"
	ByHours       Question = "allocation, its hours given"
	Unknown       Question = "unknown id"
	ByNode        Question = "node, a day"
	ByInstance    Question = "node instance"
	ByWorkflow    Question = "workflow"
	ByCorrelation Question = "correlation"
	ByTrace       Question = "trace"
	BySearch      Question = "words, service, ten minutes"
	ByWord        Question = "rare word, service"
)

// Questions in the order in which they are told.
var Questions = []Question{ByAllocation, ByHours, Unknown, ByNode, ByInstance, ByWorkflow, ByCorrelation, ByTrace, BySearch, ByWord}

// What a reader takes of a record, in our tables and in theirs.
const (
	ourColumns = `SELECT signal, time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id, allocation_id, workflow_id, correlation_id,
node_id, node_instance_id, keys_rest, form_json, resource_json, attrs_rest, extra_json FROM events `
	logColumns = `SELECT Timestamp, TraceId, SpanId, SeverityText, SeverityNumber, ServiceName, Body, ResourceAttributes, ScopeName, LogAttributes,
EventName FROM otel_logs `
	spanColumns = `SELECT Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, Duration, StatusCode, StatusMessage,
SpanAttributes, ResourceAttributes, Events.Name, Links.TraceId FROM otel_traces `
)

// ourQuestions: an allocation is a few ranges. Any other identifier is asked for where its links and `key_locations` say that its
// records lie.
var ourQuestions = map[Question][]string{
	ByAllocation: {heard("{allocation}") + ourColumns + `WHERE allocation_id = '{allocation}' AND minute >= heard.1 AND minute <= heard.2 ORDER BY time, key` + plain},
	ByHours:      {ourColumns + `WHERE allocation_id = '{allocation}' AND minute >= intDiv({from}, 60) AND minute <= intDiv({to}, 60) ORDER BY time, key` + plain},
	Unknown:      {heard("{unknown}") + ourColumns + `WHERE allocation_id = '{unknown}' AND minute >= heard.1 AND minute <= heard.2 ORDER BY time, key` + plain},
	ByNode: {lying("node", "{node}") + ourColumns + `WHERE allocation_id IN (SELECT arrayJoin(lies.1)) AND minute >= intDiv({from}, 60) AND minute <= intDiv({from} + 86400, 60)
AND node_id = '{node}' AND time >= toDateTime({from}) AND time < toDateTime({from}) + 86400 ORDER BY time, key` + plain},
	ByInstance:    {lying("node_instance", "{instance}") + ourColumns + there + `node_instance_id = '{instance}' ORDER BY time, key` + plain},
	ByWorkflow:    {lying("workflow", "{workflow}") + ourColumns + there + `hasAny(keys, ['workflow:{workflow}']) ORDER BY time, key` + plain},
	ByCorrelation: {lying("correlation", "{correlation}") + ourColumns + there + `hasAny(keys, ['correlation:{correlation}']) ORDER BY time, key` + plain},
	ByTrace:       {lying("trace", "{trace}") + ourColumns + there + `trace_id = '{trace}' ORDER BY time, key` + plain},
	BySearch:      {ourColumns + `WHERE service = 'kernel' AND time >= toDateTime({from}) AND time < toDateTime({from}) + 600 AND minute >= intDiv({from}, 60) AND minute <= intDiv({from} + 600, 60) AND hasAllTokens(lower(body), ['corrected']) AND indexHint(hasToken(lower(body), 'corrected')) ORDER BY time DESC LIMIT 100`},
	ByWord:        {ourColumns + `WHERE service = 'fulfillment-api' AND hasAllTokens(lower(body), ['{word}']) AND indexHint(hasToken(lower(body), '{word}')) ORDER BY time DESC LIMIT 100`},
}

// heard is when an allocation was heard of, in minutes: the reader asks that first.
func heard(id string) string {
	return `WITH (SELECT (intDiv(toUnixTimestamp64Nano(min(first_seen)), 60000000000) - 1440, intDiv(toUnixTimestamp64Nano(max(last_seen)), 60000000000) + 1440)
FROM allocations WHERE allocation_id = '` + id + `') AS heard `
}

// plain is how the reader asks: no projection serves these questions, none is looked for.
const plain = ` SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0`

// lying is where the records of an identifier lie, as which allocations' and between which minutes: the reader asks that first.
func lying(kind, id string) string {
	return `WITH (SELECT (groupUniqArray(allocation), min(first), max(last)) FROM (
SELECT allocation_id AS allocation, toInt64(first_minute) AS first, toInt64(last_minute) AS last FROM key_locations WHERE key = '` + kind + `:` + id + `'
UNION ALL SELECT allocation_id, intDiv(toUnixTimestamp64Nano(first_seen), 60000000000), intDiv(toUnixTimestamp64Nano(last_seen), 60000000000) FROM allocations
WHERE allocation_id IN (SELECT object_id FROM links WHERE subject_kind = '` + kind + `' AND subject_id = '` + id + `' AND object_kind = 'allocation'))) AS lies `
}

const there = `WHERE allocation_id IN (SELECT arrayJoin(lies.1)) AND minute >= lies.2 AND minute <= lies.3 AND `

// rivalQuestions follow the exporter's README: attributes by name, which its indexes over keys and values serve;
// five-minute buckets beside times, which its order serves; traces by way of their table of times.
var rivalQuestions = map[Question][]string{
	ByAllocation: byAttribute("allocation_id", "{allocation}"),
	ByHours: {
		logColumns + `WHERE LogAttributes['allocation_id'] = '{allocation}' AND ` + between("{from}", "{to}") + ` ORDER BY Timestamp`,
		spanColumns + `WHERE SpanAttributes['allocation_id'] = '{allocation}' AND Timestamp >= toDateTime({from}) AND Timestamp < toDateTime({to}) ORDER BY Timestamp`,
	},
	Unknown: byAttribute("allocation_id", "{unknown}"),
	ByNode: {
		logColumns + `WHERE ResourceAttributes['node_id'] = '{node}' AND ` + window("86400") + ` ORDER BY Timestamp`,
		logColumns + `WHERE LogAttributes['node_id'] = '{node}' AND ` + window("86400") + ` ORDER BY Timestamp`,
		spanColumns + `WHERE SpanAttributes['node_id'] = '{node}' AND Timestamp >= toDateTime({from}) AND Timestamp < toDateTime({from}) + 86400 ORDER BY Timestamp`,
	},
	ByInstance:    byAttribute("node_instance_id", "{instance}"),
	ByWorkflow:    byAttribute("workflow_id", "{workflow}"),
	ByCorrelation: byAttribute("correlation_id", "{correlation}"),
	ByTrace: {
		logColumns + `WHERE TraceId = '{trace}' ORDER BY Timestamp`,
		`WITH (SELECT min(Start) FROM otel_traces_trace_id_ts WHERE TraceId = '{trace}') AS start, (SELECT max(End) + 1 FROM otel_traces_trace_id_ts WHERE TraceId = '{trace}') AS end ` +
			spanColumns + `WHERE TraceId = '{trace}' AND Timestamp >= start AND Timestamp <= end ORDER BY Timestamp`,
	},
	BySearch: {logColumns + `WHERE ServiceName = 'kernel' AND ` + window("600") + ` AND hasToken(lower(Body), 'corrected')
ORDER BY (toStartOfFiveMinutes(Timestamp), Timestamp) DESC LIMIT 100`},
	ByWord: {logColumns + `WHERE ServiceName = 'fulfillment-api' AND hasToken(lower(Body), '{word}') ORDER BY Timestamp DESC LIMIT 100`},
}

func byAttribute(name, value string) []string {
	return []string{
		logColumns + `WHERE LogAttributes['` + name + `'] = '` + value + `' ORDER BY Timestamp`,
		spanColumns + `WHERE SpanAttributes['` + name + `'] = '` + value + `' ORDER BY Timestamp`,
	}
}

func window(seconds string) string { return between("{from}", "{from} + "+seconds) }

// between is how the exporter's README asks for a time.
func between(from, to string) string {
	return `toStartOfFiveMinutes(Timestamp) >= toStartOfFiveMinutes(toDateTime(` + from + `)) AND toStartOfFiveMinutes(Timestamp) <= toStartOfFiveMinutes(toDateTime(` + to +
		`)) AND Timestamp >= toDateTime(` + from + `) AND Timestamp < toDateTime(` + to + `)`
}
