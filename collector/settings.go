package collector

import (
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/otelcol"
)

// DefaultConfig is the configuration of one host, used where none is named.
const DefaultConfig = "embedded:lab"

// synchronous has what reads files hand a line on before it notes that it has read it, and what reads journals right
// after (see queuestorage). Otherwise the lines of the last 100 ms before a kill are in no queue and behind the noted
// position: lost.
const synchronous = "stanza.synchronousLogEmitter"

// Settings of a Collector that reads the configurations at these URIs (file:…, yaml:…, embedded:NAME),
// one over the other; without any it is DefaultConfig.
func Settings(version string, uris ...string) otelcol.CollectorSettings {
	if len(uris) == 0 {
		uris = []string{DefaultConfig}
	}
	return otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "faultline-collector", Description: "Faultline's OpenTelemetry Collector", Version: version},
		Factories: Components,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs:          uris,
			DefaultScheme: "env",
			ProviderFactories: []confmap.ProviderFactory{
				envprovider.NewFactory(), fileprovider.NewFactory(), yamlprovider.NewFactory(), newEmbeddedProvider(),
			},
		}},
	}
}
