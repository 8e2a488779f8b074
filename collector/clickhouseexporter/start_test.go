package clickhouseexporter

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/schema"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The test's store outlives every test, and its connections idle until the end.
		goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// host hears what a component reports of itself.
type host chan *componentstatus.Event

func (host) GetExtensions() map[component.ID]component.Component { return nil }
func (h host) Report(e *componentstatus.Event)                   { h <- e }

// Tables that were made by another text end the Collector; nothing is written to them.
func TestChangedSchemaIsFatal(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	conn := connect(t, dsn)
	if err := schema.Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(t.Context(), "INSERT INTO schema_migrations (name, sha256, applied_at) VALUES ('0001_events.sql', 'another', now64(3) + INTERVAL 1 HOUR)"); err != nil {
		t.Fatal(err)
	}
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = configopaque.String(dsn)
	e, err := newExporter(cfg, exportertest.NewNopSettings(Type))
	if err != nil {
		t.Fatal(err)
	}
	h := make(host, 8)
	if err := e.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Shutdown(context.Background()) }()
	select {
	case event := <-h:
		if event.Status() != componentstatus.StatusFatalError || !errors.Is(event.Err(), schema.ErrChanged) {
			t.Fatalf("%v: %v", event.Status(), event.Err())
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was reported")
	}
	if err := e.consumeLogs(t.Context(), hostileLogs()); !errors.Is(err, errNotReady) {
		t.Fatalf("error %v", err)
	}
}

// Without create_schema the exporter waits for somebody else to migrate, and says what is missing.
func TestWaitsForTheSchema(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	conn := connect(t, dsn)
	cfg := createDefaultConfig().(*Config)
	cfg.DSN, cfg.CreateSchema = configopaque.String(dsn), false
	e, err := newExporter(cfg, exportertest.NewNopSettings(Type))
	if err != nil {
		t.Fatal(err)
	}
	h := make(host, 64)
	if err := e.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Shutdown(context.Background()) }()
	if event := <-h; event.Status() != componentstatus.StatusRecoverableError {
		t.Fatalf("%v: %v", event.Status(), event.Err())
	}
	if err := schema.Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	for event := range h {
		if event.Status() == componentstatus.StatusOK {
			return
		}
	}
}
