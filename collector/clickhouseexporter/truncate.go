package clickhouseexporter

import (
	"slices"

	"github.com/faultline-io/faultline/internal/record"
)

// truncater cuts what is longer than limit bytes, at a character, and counts what it cut. Columns take everything else as it
// is: any severity number, NUL bytes, thousands of attributes; times beyond 2262 and text that is no UTF-8 were set right
// when the record was decoded. The record's key is that of what is stored.
type truncater struct {
	limit int
	cut   int

	shared, truncated record.Attrs // the resource of the records before, and what became of it
}

func (c *truncater) truncate(r *record.Record) {
	cut := func(s *string) {
		if len(*s) > c.limit {
			*s = record.Truncate(*s, c.limit)
			c.cut++
		}
	}
	attrs := func(a *record.Attrs) {
		if !slices.ContainsFunc(*a, func(x record.Attr) bool { return len(x.Key) > c.limit || len(x.Value) > c.limit }) {
			return
		}
		*a = slices.Clone(*a) // a resource, and what was stamped on it, is shared by its records
		for i := range *a {
			cut(&(*a)[i].Key)
			cut(&(*a)[i].Value)
		}
		*a = a.Sort()
	}
	for _, s := range []*string{&r.Service, &r.Scope, &r.Name, &r.SeverityText, &r.Body, &r.StatusMessage} {
		cut(s)
	}
	if !same(r.Resource, c.shared) { // cut and counted once; records of one resource go on sharing it
		c.shared = r.Resource
		attrs(&r.Resource)
		c.truncated = r.Resource
	}
	r.Resource = c.truncated
	attrs(&r.Attrs)
	attrs(&r.Stamped)
	for i := range r.Events {
		cut(&r.Events[i].Name)
		attrs(&r.Events[i].Attrs)
	}
}

// same says that two are one and the same slice.
func same(a, b record.Attrs) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
