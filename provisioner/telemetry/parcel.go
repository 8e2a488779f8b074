package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// Parcel is records in the form in which they are kept until they have arrived: what Pack wrote.
type Parcel struct {
	Pack    []byte
	Records int
}

// Something says whether there is anything to say.
func (r Record) Something() bool { return r.source != nil }

// Say gives the record to its source's emitter, which may lose it.
func (r Record) Say() {
	if r.Something() {
		r.source.emitter.take(r)
	}
}

// Delivers says whether there is anybody to deliver to.
func (e *Emitter) Delivers() bool { return e.post != nil || e.file != nil }

// Deliver sends parcels together, now, and comes back when they have arrived everywhere, or with the error
// of the first place where they have not; ErrRefused where they never will. What is delivered again is not
// counted twice by whoever reads it: each record has the name under which it was first sent.
func (e *Emitter) Deliver(ctx context.Context, parcels ...Parcel) error {
	b, err := unpack(parcels)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if e.post != nil {
		if b.logs.LogRecordCount() > 0 {
			body, err := plogotlp.NewExportRequestFromLogs(b.logs).MarshalProto()
			if err == nil {
				err = e.post.post(ctx, "/v1/logs", body)
			}
			if err != nil {
				return fmt.Errorf("post logs: %w", err)
			}
		}
		if b.traces.SpanCount() > 0 {
			body, err := ptraceotlp.NewExportRequestFromTraces(b.traces).MarshalProto()
			if err == nil {
				err = e.post.post(ctx, "/v1/traces", body)
			}
			if err != nil {
				return fmt.Errorf("post spans: %w", err)
			}
		}
	}
	if e.file == nil {
		return nil
	}
	return e.file.write(b)
}

// Unpack reads parcels, in their order.
func Unpack(parcels ...Parcel) (plog.Logs, ptrace.Traces, error) {
	b, err := unpack(parcels)
	return b.logs, b.traces, err
}

func unpack(parcels []Parcel) (batch, error) {
	var records []Record
	u := unpacker{sources: map[string]*Source{}}
	for _, p := range parcels {
		var err error
		if records, err = u.unpack(p.Pack, records); err != nil {
			return encode(nil), err
		}
	}
	return encode(records), nil
}

// Lost counts records that were given up by whoever kept them.
func (e *Emitter) Lost(records int) { e.dropped.Add(uint64(records)) }
