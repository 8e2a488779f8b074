package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// Parcel is records in the form in which they are kept until they have arrived: OTLP export requests in
// protobuf, empty where there are none. Requests that follow one another are one request: parcels are
// put together by appending their bytes.
type Parcel struct {
	Logs, Traces []byte
	Records      int
}

// Something says whether there is anything to say.
func (r Record) Something() bool { return r.source != nil }

// Say gives the record to its source's emitter, which may lose it.
func (r Record) Say() {
	if r.Something() {
		r.source.emitter.take(r)
	}
}

// Pack makes a parcel; records that are none are left out.
func Pack(records []Record) Parcel {
	var p Parcel
	logs, spans := 0, 0
	for _, r := range records {
		switch {
		case r.log != nil:
			logs++
		case r.span != nil:
			spans++
		}
	}
	if p.Records = logs + spans; logs > 0 {
		w := make(wire, 0, 640*logs)
		w.request(records, func(r Record) bool { return r.log != nil }, func(r Record) { w.log(r.log) })
		p.Logs = w
	}
	if spans > 0 {
		w := make(wire, 0, 512*spans)
		w.request(records, func(r Record) bool { return r.span != nil }, func(r Record) { w.span(r.span) })
		p.Traces = w
	}
	return p
}

// Append puts another parcel behind this one.
func (p *Parcel) Append(q Parcel) {
	p.Logs, p.Traces, p.Records = append(p.Logs, q.Logs...), append(p.Traces, q.Traces...), p.Records+q.Records
}

// Delivers says whether there is anybody to deliver to.
func (e *Emitter) Delivers() bool { return e.post != nil || e.file != nil }

// Deliver sends a parcel now and comes back when it has arrived everywhere, or with the error of the
// first place where it has not; ErrRefused where it never will. One that is delivered again is not
// counted twice by whoever reads it: each record has the name under which it was first sent.
func (e *Emitter) Deliver(ctx context.Context, p Parcel) error {
	if e.post != nil {
		if len(p.Logs) > 0 {
			if err := e.post.post(ctx, "/v1/logs", p.Logs); err != nil {
				return fmt.Errorf("post logs: %w", err)
			}
		}
		if len(p.Traces) > 0 {
			if err := e.post.post(ctx, "/v1/traces", p.Traces); err != nil {
				return fmt.Errorf("post spans: %w", err)
			}
		}
	}
	if e.file == nil {
		return nil
	}
	logs, traces := plogotlp.NewExportRequest(), ptraceotlp.NewExportRequest()
	if err := logs.UnmarshalProto(p.Logs); err != nil {
		return fmt.Errorf("%w: decode logs: %w", ErrRefused, err)
	}
	if err := traces.UnmarshalProto(p.Traces); err != nil {
		return fmt.Errorf("%w: decode spans: %w", ErrRefused, err)
	}
	return e.file.write(batch{logs.Logs(), traces.Traces()})
}

// Lost counts records that were given up by whoever kept them.
func (e *Emitter) Lost(records int) { e.dropped.Add(uint64(records)) }
