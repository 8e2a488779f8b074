package lokiexporter

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// DefaultLabels are the labels beside severity. None has more values than a platform has services or environments.
func DefaultLabels() []Label {
	return []Label{
		{Name: "service_name", From: []string{semconv.ServiceName}},
		{Name: "environment", From: []string{"deployment.environment.name", "deployment.environment", "environment"}},
		{Name: "cluster", From: []string{"k8s.cluster.name", "cluster"}},
	}
}

// unknownService is the service of records that name none; Loki would write the same.
const unknownService = "unknown_service"

// maxLabelValue is what Loki takes for a label's value by default (max_label_value_length); a longer one costs the whole stream.
const maxLabelValue = 2048

// severities are the values of the label severity, by a sixth of OTLP's scale each.
var severities = [...]string{"unknown", "trace", "debug", "info", "warn", "error", "fatal"}

// severityOf is the place in severities of a record.
func severityOf(lr plog.LogRecord) int {
	n := int(lr.SeverityNumber())
	if n == 0 {
		n = record.SeverityNumber(lr.SeverityText())
	}
	if n < 1 || n > 24 {
		return 0
	}
	return (n-1)/4 + 1
}

// selector makes the labels of a resource's streams: all but severity, whose place is kept free.
type selector struct {
	labels []Label // by name
	used   map[string]bool
}

func newSelector(labels []Label) *selector {
	sorted := slices.SortedFunc(slices.Values(labels), func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	return &selector{labels: sorted, used: map[string]bool{}}
}

// values gives the value of each label. used names the attributes that became labels and are therefore no metadata. It says
// how many values were cut.
func (s *selector) values(resource pcommon.Map, d *otlp.Decoder) (values []string, cut int) {
	clear(s.used)
	for _, l := range s.labels {
		value := ""
		for _, from := range l.From {
			if v, ok := resource.Get(from); ok {
				if value = d.Value(v); value != "" {
					s.used[from] = true
					break
				}
			}
		}
		if value == "" && l.Name == "service_name" {
			value = unknownService
		}
		if len(value) > maxLabelValue {
			value, cut = record.Truncate(value, maxLabelValue), cut+1
		}
		values = append(values, value)
	}
	return values, cut
}

// text writes the labels of a stream in the form that Loki gives them, which is how its answers name the stream.
func (s *selector) text(values []string, severity string) string {
	var b strings.Builder
	write := func(name, value string) {
		if value == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(strconv.Quote(value))
	}
	written := false
	for i, l := range s.labels {
		if !written && l.Name > severityLabel {
			write(severityLabel, severity)
			written = true
		}
		write(l.Name, values[i])
	}
	if !written {
		write(severityLabel, severity)
	}
	return "{" + b.String() + "}"
}
