package collector

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

//go:embed config/*.yaml
var configs embed.FS

// configNames lists the configurations that come with the Collector: --config embedded:NAME.
func configNames() []string {
	entries, err := configs.ReadDir("config")
	if err != nil {
		return nil // the folder is embedded
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// embeddedProvider reads embedded:NAME.
type embeddedProvider struct{}

const scheme = "embedded"

func newEmbeddedProvider() confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider { return embeddedProvider{} })
}

func (embeddedProvider) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	name := strings.TrimPrefix(uri, scheme+":")
	text, err := configs.ReadFile("config/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("there is no embedded configuration %q (there are: %s)", name, strings.Join(configNames(), ", "))
	}
	return confmap.NewRetrievedFromYAML(text)
}

func (embeddedProvider) Scheme() string { return scheme }

func (embeddedProvider) Shutdown(context.Context) error { return nil }
