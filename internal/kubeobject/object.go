package kubeobject

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// MaxBodyBytes bounds what is read as an object; the API server itself stores no larger ones.
const MaxBodyBytes = 2 << 20

// maxNameBytes is the longest name that Kubernetes gives.
const maxNameBytes = 253

// Watch events around an object. An object that was listed has none.
const deleted = "DELETED"

// object is one Kubernetes object as a log record carried it.
type object struct {
	watch                      string // ADDED, MODIFIED, DELETED; "" for one that was listed
	group, kind, uid, revision string
	name, namespace            string
	fields                     map[string]any
}

// plausible is a cheap test that lets nearly every other log line pass by.
func plausible(r *record.Record) bool {
	return r.Signal == record.Log && len(r.Body) > 2 && len(r.Body) <= MaxBodyBytes && r.Body[0] == '{' &&
		strings.Contains(r.Body, `"apiVersion"`) && strings.Contains(r.Body, `"metadata"`)
}

// parse reads a record's body as an object, or as a watch event around one. broken says that it looks
// like one and is none: it lacks the uid and the version that tell one state of an object from another.
func parse(r *record.Record) (o *object, broken bool) {
	if !plausible(r) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(r.Body))
	d.UseNumber()
	var body map[string]any
	if d.Decode(&body) != nil {
		return nil, false
	}
	o = &object{fields: body}
	if inner, ok := body["object"].(map[string]any); ok {
		o.watch, _ = body["type"].(string)
		o.watch = strings.ToUpper(o.watch)
		o.fields = inner
	}
	apiVersion, _ := o.fields["apiVersion"].(string)
	o.kind, _ = o.fields["kind"].(string)
	meta, _ := o.fields["metadata"].(map[string]any)
	if apiVersion == "" || o.kind == "" || meta == nil {
		return nil, false
	}
	if group, _, ok := strings.Cut(apiVersion, "/"); ok {
		o.group = group
	}
	o.uid, o.revision = scalar(meta["uid"]), scalar(meta["resourceVersion"])
	o.name, o.namespace = shorten(scalar(meta["name"]), maxNameBytes), shorten(scalar(meta["namespace"]), maxNameBytes)
	return o, !identity.ValidID(o.uid) || !identity.ValidID(o.revision)
}

// written is when the object was last written, as the API server noted it for each writer; 0 where
// that was stripped. Replays of one state so have one time, whenever they arrive.
func (o *object) written() int64 {
	meta, _ := o.fields["metadata"].(map[string]any)
	writers, _ := meta["managedFields"].([]any)
	var last int64
	for _, w := range writers {
		if entry, ok := w.(map[string]any); ok {
			last = max(last, timeOf(scalar(entry["time"])))
		}
	}
	if last == 0 {
		return 0
	}
	return max(last, timeOf(scalar(meta["deletionTimestamp"])))
}

// created is when the object was created, 0 where that was stripped.
func (o *object) created() int64 {
	meta, _ := o.fields["metadata"].(map[string]any)
	return timeOf(scalar(meta["creationTimestamp"]))
}

// timeOf reads RFC 3339 as Kubernetes writes it; 0 for anything else.
func timeOf(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 2000 || t.Year() > 2261 {
		return 0
	}
	return t.UnixNano()
}

// scalar is the text of a string, number or truth value; "" of anything else, so that no part of an
// object can slip into an event whole.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}
