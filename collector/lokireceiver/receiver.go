package lokireceiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"
)

// lokiReceiver is the HTTP server.
type lokiReceiver struct {
	cfg    *Config
	set    receiver.Settings
	next   consumer.Logs
	report *receiverhelper.ObsReport
	server *http.Server
	serves sync.WaitGroup
}

func newReceiver(cfg *Config, set receiver.Settings, next consumer.Logs) (*lokiReceiver, error) {
	report, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{ReceiverID: set.ID, Transport: "http", ReceiverCreateSettings: set})
	if err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	return &lokiReceiver{cfg: cfg, set: set, next: next, report: report}, nil
}

// Start listens.
func (r *lokiReceiver) Start(ctx context.Context, host component.Host) error {
	mux := http.NewServeMux()
	for _, path := range []string{"/loki/api/v1/push", "/api/v1/push"} {
		mux.HandleFunc("POST "+path, r.push)
	}
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ready\n") }) // Vector asks first
	var err error
	// Of a body that says that it is snappy the receiver unpacks the blocks itself, as of one that does not say so.
	asItIs := func(io.ReadCloser) (io.ReadCloser, error) { return nil, nil }
	if r.server, err = r.cfg.Server.ToServer(ctx, host.GetExtensions(), r.set.TelemetrySettings, mux, confighttp.WithDecoder("snappy", asItIs)); err != nil {
		return fmt.Errorf("make the server: %w", err)
	}
	listener, err := r.cfg.Server.ToListener(ctx)
	if err != nil {
		return fmt.Errorf("listen at %s: %w", r.cfg.Server.NetAddr.Endpoint, err)
	}
	r.set.Logger.Info("takes pushes as Loki does", zap.Stringer("endpoint", listener.Addr()))
	r.serves.Go(func() {
		if err := r.server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(fmt.Errorf("serve: %w", err)))
		}
	})
	return nil
}

// Shutdown takes nothing more and waits for what is under way.
func (r *lokiReceiver) Shutdown(ctx context.Context) error {
	if r.server == nil {
		return nil
	}
	err := r.server.Shutdown(ctx)
	r.serves.Wait()
	return err
}
