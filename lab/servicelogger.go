package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// serviceLogger is one service of a node. Its spans and heartbeats go out as OTLP; so do its lines, or, where
// nodes keep log files, they go to a file that an agent Collector reads: until it has, they are on the
// node's disk and nowhere else.
type serviceLogger struct {
	*telemetry.Emitter
	node     *node
	identity []slog.Attr
}

func (n *node) logger(service string, identity ...slog.Attr) *serviceLogger {
	return &serviceLogger{n.lab.exporter.Emitter(service, identity...), n, identity}
}

// Log says one line.
func (s *serviceLogger) Log(ctx context.Context, severity plog.SeverityNumber, body string, attrs ...slog.Attr) {
	if !s.node.lab.config.LogFiles {
		s.Emitter.Log(ctx, severity, body, attrs...)
		return
	}
	file, line := journalFile, s.journalLine(severity, body)
	if s.Service() == "node-agent" {
		file, line = agentFile, s.agentLine(ctx, severity, body, attrs)
	}
	text, err := json.Marshal(line)
	if err == nil {
		err = s.node.disk.append(file, append(text, '\n'))
	}
	if err != nil && ctx.Err() == nil { // as on any node, what says so is the console
		_ = s.node.disk.console(fmt.Sprintf("[%12.6f] systemd-journald[301]: %s: %v", s.node.uptime().Seconds(), file, err))
	}
}

// Log files of a node.
const (
	agentFile   = "agent.log"    // the agent's own, a JSON object a line
	journalFile = "journal.json" // the journal, as journalctl -o json writes it
	consoleFile = "console.log"  // the kernel's last words, plain
)

// contextual are the identifiers of the work at hand that the agent writes beside a line.
var contextual = [...]string{semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID, semconv.TaskID, semconv.ClaimID, semconv.RequestID}

func (s *serviceLogger) agentLine(ctx context.Context, severity plog.SeverityNumber, body string, attrs []slog.Attr) map[string]any {
	line := map[string]any{"time": s.node.state.now().UTC().Format(time.RFC3339Nano), "level": strings.ToLower(severity.String()), "msg": body}
	for _, a := range s.identity {
		line[a.Key] = a.Value.Any()
	}
	for _, key := range contextual {
		if id := telemetry.ID(ctx, key); id != "" {
			line[key] = id
		}
	}
	if span := telemetry.SpanOf(ctx); span.Valid() {
		if part := strings.Split(span.String(), "-"); len(part) == 4 { // a traceparent
			line["trace_id"], line["span_id"] = part[1], part[2]
		}
	}
	for _, a := range attrs {
		line[a.Key] = a.Value.Any()
	}
	return line
}

func (s *serviceLogger) journalLine(severity plog.SeverityNumber, body string) map[string]any {
	line := map[string]any{
		"__REALTIME_TIMESTAMP": strconv.FormatInt(s.node.state.now().UnixMicro(), 10), "_HOSTNAME": s.node.id, "PRIORITY": "6",
		"SYSLOG_IDENTIFIER": s.Service(), "MESSAGE": body, "_TRANSPORT": "journal",
	}
	if severity >= telemetry.Error {
		line["PRIORITY"] = "3"
	}
	if s.Service() == "kernel" {
		line["_TRANSPORT"] = "kernel"
	}
	for _, a := range s.identity {
		if a.Key == semconv.BootID {
			line["_BOOT_ID"] = a.Value.String()
		}
	}
	return line
}

// append adds to a log file, unless the disk is full.
func (d disk) append(name string, line []byte) error {
	if err := d.state.write(string(line)); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(d.log(), name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// console writes what the serial console shows: it is taken elsewhere than on the node's disk.
func (d disk) console(line string) error {
	f, err := os.OpenFile(filepath.Join(d.root, consoleFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
