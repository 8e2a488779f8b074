package telemetry

import (
	"errors"
	"log/slog"
	"os"
	"sync"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// fileSink appends one request object a line, as the Collector's file exporter does. Every line is one
// write to a file opened for appending, so that several processes may share it.
type fileSink struct {
	file   *os.File
	log    *slog.Logger
	mu     sync.Mutex // guards broken
	broken bool
	logs   plog.JSONMarshaler
	traces ptrace.JSONMarshaler
}

func openFile(path string, log *slog.Logger) (*fileSink, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &fileSink{file: f, log: log}, nil
}

// write gives the error of whichever line could not be written; the first one is logged as well.
func (s *fileSink) write(b batch) error {
	var logs, traces error
	if b.logs.ResourceLogs().Len() > 0 {
		logs = s.line(s.logs.MarshalLogs(b.logs))
	}
	if b.traces.ResourceSpans().Len() > 0 {
		traces = s.line(s.traces.MarshalTraces(b.traces))
	}
	return errors.Join(logs, traces)
}

func (s *fileSink) line(text []byte, err error) error {
	if err == nil {
		_, err = s.file.Write(append(text, '\n'))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && !s.broken {
		s.broken = true
		s.log.Warn("telemetry file cannot be written", "error", err)
	}
	return err
}

func (s *fileSink) close() error { return s.file.Close() }
