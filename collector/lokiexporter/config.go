package lokiexporter

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

// Config of the exporter.
type Config struct {
	// Client has endpoint, tls, headers, auth, timeout (of one push), proxy_url and the connections. The
	// endpoint is Loki's base address, or the whole one of its push API.
	Client confighttp.ClientConfig `mapstructure:",squash"`
	// TenantID is sent as X-Scope-OrgID; "" for a Loki without tenants.
	TenantID string `mapstructure:"tenant_id"`
	// Labels name the streams, beside the label severity, which is always there.
	Labels []Label `mapstructure:"labels"`
	// MaxLineBytes, MaxMetadataBytes and MaxMetadataEntries are Loki's limits of one line (max_line_size,
	// max_structured_metadata_size, max_structured_metadata_entries_count). What is longer is cut and counted.
	MaxLineBytes       int `mapstructure:"max_line_bytes"`
	MaxMetadataBytes   int `mapstructure:"max_metadata_bytes"`
	MaxMetadataEntries int `mapstructure:"max_metadata_entries"`
	// MaxPushBytes (before compression) and MaxPushEntries bound one push.
	MaxPushBytes   int `mapstructure:"max_push_bytes"`
	MaxPushEntries int `mapstructure:"max_push_entries"`
	// StreamsPerPush is how many streams share a push. Of several, Loki tells only the last one's refusal.
	StreamsPerPush int `mapstructure:"streams_per_push"`
	// AskWhenInDoubt has Loki asked (query_range) what it has of a push whose answer was lost, before it is sent again.
	AskWhenInDoubt bool `mapstructure:"ask_when_in_doubt"`

	Queue configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	Retry configretry.BackOffConfig                                `mapstructure:"retry_on_failure"`
}

// Label is a label of streams: its name, and the resource attributes whose value it takes, the first that is there.
type Label struct {
	Name string   `mapstructure:"name"`
	From []string `mapstructure:"from"`
}

// severityLabel is the name of the label that every stream has.
const severityLabel = "severity"

var labelName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

// Validate names the key that is wrong.
func (c *Config) Validate() error {
	var errs []error
	if u, err := url.Parse(c.Client.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, fmt.Errorf("endpoint: %q is not an address such as http://loki:3100", c.Client.Endpoint))
	}
	if c.Client.Compression.IsCompressed() {
		errs = append(errs, fmt.Errorf("compression: %q: a push is always compressed with snappy, and never twice", c.Client.Compression))
	}
	errs = append(errs, c.labels()...)
	for _, bound := range []struct {
		key           string
		value, lowest int
	}{
		{"max_line_bytes", c.MaxLineBytes, 1024}, {"max_metadata_bytes", c.MaxMetadataBytes, 2048}, {"max_metadata_entries", c.MaxMetadataEntries, 16},
		{"max_push_bytes", c.MaxPushBytes, 1024}, {"max_push_entries", c.MaxPushEntries, 1}, {"streams_per_push", c.StreamsPerPush, 1},
	} {
		if bound.value < bound.lowest {
			errs = append(errs, fmt.Errorf("%s: %d is less than %d", bound.key, bound.value, bound.lowest))
		}
	}
	if c.Queue.HasValue() && c.Queue.Get().StorageID != nil && (!c.Retry.Enabled || c.Retry.MaxElapsedTime > 0) {
		errs = append(errs, errors.New("retry_on_failure: a queue on disk (sending_queue.storage) needs enabled: true and max_elapsed_time: 0; else what was acknowledged is thrown away when Loki is away"))
	}
	return errors.Join(errs...)
}

// labels refuses what would make a stream of every allocation, node or request.
func (c *Config) labels() (errs []error) {
	seen := map[string]bool{severityLabel: true}
	for _, l := range c.Labels {
		switch {
		case !labelName.MatchString(l.Name):
			errs = append(errs, fmt.Errorf("labels: %q is not a label's name", l.Name))
		case seen[l.Name]:
			errs = append(errs, fmt.Errorf("labels: %s stands there twice, or is the one that is always there", l.Name))
		case len(l.From) == 0:
			errs = append(errs, fmt.Errorf("labels: %s: from names no resource attribute", l.Name))
		}
		seen[l.Name] = true
		for _, from := range append([]string{l.Name}, l.From...) {
			if isIdentifier(from) {
				errs = append(errs, fmt.Errorf("labels: %s: %s has many values, each of which would be a stream; it is structured metadata", l.Name, from))
			}
		}
	}
	if len(seen) > 15 {
		errs = append(errs, fmt.Errorf("labels: %d are more than Loki takes for a stream (max_label_names_per_series, 15)", len(seen)))
	}
	return errs
}
