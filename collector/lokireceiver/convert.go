package lokireceiver

import (
	"encoding/hex"
	"math"
	"time"

	logproto "github.com/grafana/loki/pkg/push"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// serviceLabels name the service where no label service_name does, the first that is there: Loki's own list (discover_service_name).
var serviceLabels = []string{"service", "app", "application", "app_name", "name", "app_kubernetes_io_name", "container", "container_name",
	"k8s_container_name", "component", "workload", "job", "k8s_job_name"}

// attributeNames are the labels with another name in OpenTelemetry. All other labels, identifiers among them, keep theirs.
var attributeNames = map[string]string{
	"service_name":                semconv.ServiceName,
	"host":                        semconv.HostName,
	"hostname":                    semconv.HostName,
	"nodename":                    semconv.HostName,
	"host_name":                   semconv.HostName,
	"env":                         environment,
	"environment":                 environment,
	"deployment_environment":      environment,
	"deployment_environment_name": environment,
	"cluster":                     "k8s.cluster.name",
	"k8s_cluster_name":            "k8s.cluster.name",
	"namespace":                   "k8s.namespace.name",
	"k8s_namespace_name":          "k8s.namespace.name",
	"pod":                         "k8s.pod.name",
	"k8s_pod_name":                "k8s.pod.name",
	"filename":                    "log.file.path",
}

const environment = "deployment.environment.name"

// severityLabels say how bad a line is; in a label for all lines of a stream, in structured metadata for one.
var severityLabels = map[string]bool{"severity": true, "level": true, "detected_level": true, "severity_text": true}

// convert makes a resource of each stream. It says which streams were refused, and why; they are left out.
func convert(streams []stream, now time.Time) (ld plog.Logs, refused []string) {
	ld = plog.NewLogs()
	for _, s := range streams {
		if s.err != nil {
			refused = append(refused, s.err.Error())
			continue
		}
		if len(s.entries) == 0 {
			continue
		}
		rl := ld.ResourceLogs().AppendEmpty()
		level := resource(s.labels, rl.Resource().Attributes())
		records := rl.ScopeLogs().AppendEmpty().LogRecords()
		records.EnsureCapacity(len(s.entries))
		for i := range s.entries {
			logRecord(&s.entries[i], level, now, records.AppendEmpty())
		}
	}
	return ld, refused
}

// resource turns labels into attributes and gives the level of the stream's lines, "" where it says none.
func resource(labels []logproto.LabelAdapter, to pcommon.Map) (level string) {
	to.EnsureCapacity(len(labels) + 1)
	values := make(map[string]string, len(labels))
	for _, l := range labels {
		if severityLabels[l.Name] {
			level = l.Value
			continue
		}
		values[l.Name] = l.Value
		name := l.Name
		if other, ok := attributeNames[name]; ok {
			name = other
		}
		if _, there := to.Get(name); !there { // of two that mean the same the first counts
			to.PutStr(name, otlp.Text(l.Value))
		}
	}
	if _, named := to.Get(semconv.ServiceName); !named {
		for _, name := range serviceLabels {
			if v := values[name]; v != "" {
				to.PutStr(semconv.ServiceName, otlp.Text(v))
				break
			}
		}
	}
	return level
}

// logRecord turns an entry into a record.
func logRecord(e *logproto.Entry, level string, now time.Time, to plog.LogRecord) {
	to.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
	// Beyond what nanoseconds can say, and before 1970, nothing is known of the time.
	if s := e.Timestamp.Unix(); s >= 0 && s < math.MaxInt64/1_000_000_000 && e.Timestamp.UnixNano() > 0 {
		to.SetTimestamp(pcommon.NewTimestampFromTime(e.Timestamp))
	}
	to.Body().SetStr(otlp.Text(e.Line))
	setSeverity(to, otlp.Text(level))
	to.Attributes().EnsureCapacity(len(e.StructuredMetadata))
	for _, m := range e.StructuredMetadata {
		switch value := otlp.Text(m.Value); {
		case severityLabels[m.Name]:
			setSeverity(to, value)
		case m.Name == semconv.TraceID && setTrace(to, value), m.Name == "span_id" && setSpan(to, value):
		case m.Name == "event_name":
			to.SetEventName(value)
		default:
			to.Attributes().PutStr(otlp.Text(m.Name), value)
		}
	}
}

// setSeverity takes the text as it is; a word that nobody knows leaves the number that another one gave.
func setSeverity(to plog.LogRecord, text string) {
	if text == "" || text == "unknown" {
		return
	}
	to.SetSeverityText(text)
	if n := record.SeverityNumber(text); n != 0 {
		to.SetSeverityNumber(plog.SeverityNumber(n))
	}
}

// setTrace says whether the text was a trace's id; what is none stays an attribute.
func setTrace(to plog.LogRecord, text string) bool {
	var id pcommon.TraceID
	if !fromHex(id[:], text) {
		return false
	}
	to.SetTraceID(id)
	return true
}

func setSpan(to plog.LogRecord, text string) bool {
	var id pcommon.SpanID
	if !fromHex(id[:], text) {
		return false
	}
	to.SetSpanID(id)
	return true
}

func fromHex(to []byte, text string) bool {
	if len(text) != 2*len(to) {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}
