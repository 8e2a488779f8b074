package clickhouseexporter

import (
	"slices"
	"unicode/utf8"

	"github.com/faultline-io/faultline/internal/record"
)

// clip cuts what is longer than limit bytes, at a character, and says how many values it cut. Columns
// take everything else as it is: any time of the OTLP range, any severity number, NUL bytes, thousands
// of attributes; text that is no UTF-8 was replaced when the record was decoded. The record's key is
// that of what is stored.
func clip(r *record.Record, limit int) int {
	n := 0
	cut := func(s *string) {
		if len(*s) > limit {
			end := limit
			for end > 0 && !utf8.RuneStart((*s)[end]) {
				end--
			}
			*s = (*s)[:end]
			n++
		}
	}
	attrs := func(a *record.Attrs) {
		if !slices.ContainsFunc(*a, func(x record.Attr) bool { return len(x.Key) > limit || len(x.Value) > limit }) {
			return
		}
		*a = slices.Clone(*a) // a resource is shared by its records
		for i := range *a {
			cut(&(*a)[i].Key)
			cut(&(*a)[i].Value)
		}
		*a = a.Sort()
	}
	for _, s := range []*string{&r.Service, &r.Scope, &r.Name, &r.SeverityText, &r.Body, &r.StatusMessage} {
		cut(s)
	}
	attrs(&r.Resource)
	attrs(&r.Attrs)
	attrs(&r.Stamped)
	for i := range r.Events {
		cut(&r.Events[i].Name)
		attrs(&r.Events[i].Attrs)
	}
	return n
}
