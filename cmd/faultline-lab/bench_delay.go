package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// tale is a failing allocation of thirteen records; %[1]d makes its identifiers its own.
const tale = `
%[2]s provisioner allocation.state allocation_id=b-%[1]d correlation_id=c-%[1]d to=requested
%[2]s provisioner workflow.state allocation_id=b-%[1]d workflow_id=w-%[1]d operation=provision to=running
%[2]s provisioner node.assigned allocation_id=b-%[1]d node_id=n-%[1]d
%[2]s provisioner allocation.state allocation_id=b-%[1]d from=reserved to=provisioning
%[2]s provisioner task.state task_id=k-%[1]d workflow_id=w-%[1]d node_id=n-%[1]d type=prepare to=queued
%[3]s ingress-proxy error tls.client.subject=CN=n-%[1]d | client certificate of CN=n-%[1]d refused: x509: certificate has expired or is not yet valid
%[3]s node-agent error resource.node_id=n-%[1]d | claim: remote error: tls: expired certificate
%[3]s node heartbeat resource.node_id=n-%[1]d component=node
%[4]s provisioner task.state task_id=k-%[1]d workflow_id=w-%[1]d node_id=n-%[1]d type=prepare to=expired reason="not claimed before expires_at"
%[4]s provisioner error workflow_id=w-%[1]d | retries exhausted
%[4]s provisioner workflow.state allocation_id=b-%[1]d workflow_id=w-%[1]d operation=provision to=failed
%[4]s provisioner allocation.state allocation_id=b-%[1]d from=provisioning to=failed
%[4]s cli error allocation_id=b-%[1]d | b-%[1]d is failed
`

// delay is the time from the emission of a failing allocation to its verdict, read over REST.
func (b *bench) delay(ctx context.Context, i int) (time.Duration, error) {
	now := time.Now().UTC()
	stamp := func(ago time.Duration) string { return now.Add(-ago).Format(time.RFC3339Nano) }
	records, err := story.Parse(fmt.Sprintf(tale, i, stamp(300*time.Millisecond), stamp(200*time.Millisecond), stamp(100*time.Millisecond)))
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := b.send(ctx, records); err != nil {
		return 0, err
	}
	for time.Since(begun) < 30*time.Second {
		var a correlator.Allocation
		if err := b.product.Server.Get(ctx, fmt.Sprintf("/api/v1/allocations/b-%d", i), &a); err == nil && a.Verdict.Outcome == correlator.Attributed {
			return time.Since(begun), nil
		}
		pause(ctx, 5*time.Millisecond)
	}
	return 0, fmt.Errorf("no verdict on b-%d after 30 s", i)
}

// send posts log records to the Collector as one OTLP/JSON request each line.
func (b *bench) send(ctx context.Context, records []*record.Record) error {
	text, err := otlpfile.Write(records)
	if err != nil {
		return err
	}
	var resources []json.RawMessage
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		var one struct {
			ResourceLogs []json.RawMessage `json:"resourceLogs"`
		}
		if err := json.Unmarshal(line, &one); err != nil {
			return err
		}
		resources = append(resources, one.ResourceLogs...)
	}
	body, err := json.Marshal(map[string]any{"resourceLogs": resources})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.product.OTLP+"/v1/logs", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the Collector answered %s", answer.Status)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
