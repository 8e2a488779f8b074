package correlator

import (
	"testing"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Whose an event is that only one layer tells is known without a catalog; a layer that is stated, or that the catalog has, comes first.
func TestLayerByEvent(t *testing.T) {
	p, err := profile.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ service, layer, event, to, want string }{
		{"dirigent", "", semconv.EventWorkflowState, semconv.Running, semconv.LayerWorkflow},
		{"goniec", "", semconv.EventOutbox, "published", semconv.LayerOutbox},
		{"goniec", "", semconv.EventOutbox, semconv.Pending, ""}, // by whoever wrote the row
		{"api", "", semconv.EventWorkflowState, semconv.Running, semconv.LayerAPI},
		{"dirigent", semconv.LayerProvider, semconv.EventWorkflowState, semconv.Running, semconv.LayerProvider},
		{"dirigent", "", semconv.EventAllocationState, semconv.Active, ""},
		{"dirigent", "", "", "", ""},
	} {
		r := &record.Record{Signal: record.Log, Service: c.service, Name: c.event, Attrs: record.Attrs{{Key: semconv.To, Value: c.to}}}
		if c.layer != "" {
			r.Attrs = append(r.Attrs, record.Attr{Key: semconv.Layer, Value: c.layer})
		}
		e := &Event{Record: r, event: r.IsEvent()}
		if e.read(p); e.Layer != c.want || NewUnresolvedEvent(r, "", p).Layer != c.want {
			t.Errorf("%s of %s (%s) is %q's, want %q", c.event, c.service, c.layer, e.Layer, c.want)
		}
	}
}
