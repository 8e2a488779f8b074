package kubeobject

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Withheld stands where a value of an object was not kept.
const Withheld = "[redacted]"

// unreadable stands where a text was an object that is cut off or malformed, so that nothing is known of
// its keys.
const unreadable = "[redacted: a Kubernetes object that cannot be read]"

// Withhold takes out of every Kubernetes object in a value (a body that is one, a watch event around one,
// a list, a log line that quotes one) what must not be stored, and says whether there was any. The value
// is changed in place; what is no object stays as it is.
//
// The rule: of Secrets and ConfigMaps the values of data, stringData and binaryData go; everywhere a value
// goes whose key (in a list of name and value, whose name) holds one of the guarded words: password,
// secret, token, user data, template parameters … ; of a structure under such a key all values go. A key
// that ends in Name, Namespace, Ref, Kind, Version or Seconds refers to something and stays, as do truth
// values. Private keys and cloud-init documents go wherever they stand, and out of free text whatever
// looks like a secret. The last-applied-configuration annotation, a copy of all that, goes as a whole;
// of managedFields only who wrote when stays.
func Withhold(v any) (changed bool) {
	w := withholding{}
	w.find(v)
	return w.changed
}

// WithholdText is Withhold for text. Text without an object comes back as it is.
func WithholdText(body string) string {
	if len(body) < 2 || body[0] != '{' || !strings.Contains(body, `"apiVersion"`) || !strings.Contains(body, `"metadata"`) || !strings.Contains(body, `"kind"`) {
		return body
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var object map[string]any
	if d.Decode(&object) != nil || d.More() {
		return unreadable
	}
	if !Withhold(object) {
		return body
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as OTLP's own maps are written
	if e.Encode(object) != nil {
		return unreadable
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withholding is one walk through an object.
type withholding struct{ changed bool }

// find looks for objects in what is none itself.
func (w *withholding) find(v any) {
	switch v := v.(type) {
	case map[string]any:
		apiVersion, _ := v["apiVersion"].(string)
		kind, _ := v["kind"].(string)
		if _, meta := v["metadata"]; meta && apiVersion != "" && kind != "" {
			w.object(v, kind)
			return
		}
		for _, inner := range v {
			w.find(inner)
		}
	case []any:
		for _, inner := range v {
			w.find(inner)
		}
	}
}

// value gives what to keep of a value; kind is that of the objects in it that do not say it themselves,
// as the items of a list.
func (w *withholding) value(v any, kind string) any {
	switch v := v.(type) {
	case map[string]any:
		w.object(v, kind)
	case []any:
		for i := range v {
			v[i] = w.value(v[i], kind)
		}
	case string:
		return w.text(v)
	}
	return v
}

// object walks through one structure.
func (w *withholding) object(m map[string]any, kind string) {
	if own, ok := m["kind"].(string); ok {
		kind = strings.TrimSuffix(own, "List")
	}
	opaque := kind == "Secret" || kind == "ConfigMap"
	name, named := m["name"].(string)
	for key, v := range m {
		switch {
		case key == "managedFields":
			w.writers(v)
		case strings.HasSuffix(key, "last-applied-configuration"),
			opaque && (key == "data" || key == "stringData" || key == "binaryData"),
			named && key == "value" && guards(name),
			guards(key):
			m[key] = w.all(v)
		case key == "items":
			m[key] = w.value(v, kind)
		default:
			m[key] = w.value(v, "")
		}
	}
}

// writers keeps of managedFields who wrote when: the time of the last write is read out of it.
func (w *withholding) writers(v any) {
	list, _ := v.([]any)
	for _, one := range list {
		if m, ok := one.(map[string]any); ok {
			if _, has := m["fieldsV1"]; has {
				delete(m, "fieldsV1")
				w.changed = true
			}
		}
	}
}

// all withholds every value of a structure but truth values and what only refers.
func (w *withholding) all(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if key != "name" && key != "namespace" && !refers(key) {
				v[key] = w.all(inner)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = w.all(v[i])
		}
		return v
	case nil, bool:
		return v
	case string:
		if v == "" || v == Withheld {
			return v
		}
	}
	w.changed = true
	return Withheld
}

func (w *withholding) text(s string) string {
	kept := scrub(s)
	w.changed = w.changed || kept != s
	return kept
}

// guards says whether what stands under a key must not be stored.
func guards(key string) bool {
	low := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(key))
	for _, word := range guarded {
		if strings.Contains(low, strings.ReplaceAll(word, "_", "")) {
			return !refers(key)
		}
	}
	return false
}

// refers says whether a key names something that lies elsewhere, or says how long it is good for.
func refers(key string) bool {
	for _, end := range []string{"Name", "Namespace", "Ref", "Refs", "Version", "Seconds", "Kind"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}
