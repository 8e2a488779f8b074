package telemetry_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// What others put into baggage and trace state goes on as it came; what would break a request does not.
func TestWhatIsNotOursGoesOn(t *testing.T) {
	const parent = "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01"
	for _, c := range []struct{ baggage, state, wantBaggage, wantState string }{
		{"tenant=blue", "acme=1,other=x", "tenant=blue", "acme=1,other=x"},
		{"a=1;p=2;q , correlation_id=c-1,b=%20x", "", "correlation_id=c-1,a=1;p=2;q,b=%20x", ""},
		{"bad key=1,=2,novalue,ok=\x7f,good=1", "bad\x01=1", "good=1", ""},
		{"a=" + strings.Repeat("x", 5000) + ",b=1", strings.Repeat("a", 600) + "=1", "", ""},
		{"", "nothing", "", ""},
	} {
		in := http.Header{"Traceparent": {parent}, "Baggage": {c.baggage}, "Tracestate": {c.state}}
		ctx := telemetry.Extract(context.Background(), in)
		out := http.Header{}
		telemetry.Inject(ctx, out)
		if got := out.Get("baggage"); got != c.wantBaggage {
			t.Errorf("baggage %q goes on as %q, not %q", c.baggage, got, c.wantBaggage)
		}
		if got := out.Get("tracestate"); got != c.wantState {
			t.Errorf("trace state %q goes on as %q, not %q", c.state, got, c.wantState)
		}
		if telemetry.SpanOf(ctx).Child().State != c.wantState || telemetry.NewTrace().State != "" {
			t.Error("a trace state belongs to its trace")
		}
		again := telemetry.Carry(telemetry.Carry(ctx).Resume(context.Background()))
		if again != telemetry.Carry(ctx) {
			t.Errorf("%+v came back as %+v", telemetry.Carry(ctx), again)
		}
		if telemetry.RemoteBaggage(telemetry.Detached(ctx)) != "" {
			t.Error("work of somebody else has the caller's baggage")
		}
	}
	if ctx := telemetry.With(telemetry.Extract(context.Background(), http.Header{"Baggage": {"a=1", "b=2"}}), semconv.WorkflowID, "wf-1"); telemetry.Carry(ctx).Baggage != "workflow_id=wf-1,a=1,b=2" {
		t.Error(telemetry.Carry(ctx))
	}
}
