package lokiexporter

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/basicauthextension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/bearertokenauthextension"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
)

type hostWith map[component.ID]component.Component

func (h hostWith) GetExtensions() map[component.ID]component.Component { return h }

// Over TLS, as who the extension says.
func TestAuth(t *testing.T) {
	for _, c := range []struct {
		factory  extension.Factory
		settings map[string]any
		want     string
	}{
		{basicauthextension.NewFactory(), map[string]any{"client_auth": map[string]any{"username": "loki", "password": "secret"}}, "Basic bG9raTpzZWNyZXQ="},
		{bearertokenauthextension.NewFactory(), map[string]any{"token": "t-1"}, "Bearer t-1"},
	} {
		said := ""
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said = r.Header.Get("Authorization")
			w.WriteHeader(http.StatusNoContent)
		}))
		t.Cleanup(server.Close)
		settings := c.factory.CreateDefaultConfig()
		if err := confmap.NewFromStringMap(c.settings).Unmarshal(settings); err != nil {
			t.Fatal(err)
		}
		auth, err := c.factory.Create(t.Context(), extensiontest.NewNopSettings(c.factory.Type()), settings)
		if err != nil {
			t.Fatal(err)
		}
		if err := auth.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = auth.Shutdown(t.Context()) })
		id := component.NewID(c.factory.Type())
		cfg := config()
		cfg.Client.Endpoint, cfg.Client.TLS.InsecureSkipVerify = server.URL, true
		cfg.Client.Auth = configoptional.Some(configauth.Config{AuthenticatorID: id})
		cfg.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
		e, err := NewFactory().CreateLogs(t.Context(), exportertest.NewNopSettings(Type), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context(), hostWith{id: auth}); err != nil {
			t.Fatal(err)
		}
		export(t, e, lines(1))
		if said != c.want {
			t.Errorf("%s: it said %q, want %q", id, said, c.want)
		}
		if err := e.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
