package record

import (
	"fmt"
	"strconv"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Links gives what a lifecycle event says of who belonged to whom (docs/contract.md §3, column
// "implies"), nothing for other records. What the record carries together is not among them: see
// identity.Index.AddSeen.
func (r *Record) Links() ([]identity.Link, error) {
	switch {
	case !r.IsEvent():
		return nil, nil
	case r.Name == semconv.EventBinding:
		f, err := r.statedLink()
		if err != nil {
			return nil, err
		}
		return []identity.Link{f}, nil
	}
	node := identity.Key{Kind: identity.Node, ID: r.Keys.First(identity.Node)}
	if node.ID == "" {
		return nil, nil
	}
	move := func(t identity.LinkType, object identity.Kind) ([]identity.Link, error) {
		id := r.Keys.First(object)
		if id == "" {
			return nil, nil
		}
		return []identity.Link{{Type: t, Subject: node, Object: identity.Key{Kind: object, ID: id}, From: r.Time}}, nil
	}
	switch r.Name {
	case semconv.EventNodeAssigned:
		return move(identity.Opened, identity.Allocation)
	case semconv.EventNodeUnassigned:
		return move(identity.Closed, identity.Allocation)
	case semconv.EventNodeInstance:
		switch to, _ := r.Attrs.Get(semconv.To); to {
		case semconv.Enrolling, semconv.Live:
			return move(identity.Opened, identity.NodeInstance)
		case semconv.Superseded:
			return move(identity.Closed, identity.NodeInstance)
		case semconv.Lost:
			return move(identity.Lost, identity.NodeInstance)
		}
	}
	return nil, nil
}

func (r *Record) statedLink() (identity.Link, error) {
	end := func(kind, id string) (identity.Key, error) {
		name, _ := r.Attrs.Get(kind)
		value, _ := r.Attrs.Get(id)
		k := identity.ParseKind(name)
		if k == identity.NoKind {
			return identity.Key{}, fmt.Errorf("%s %.64q: %w", kind, name, identity.ErrKind)
		}
		return identity.Key{Kind: k, ID: value}, nil
	}
	f := identity.Link{Type: identity.Bind, From: identity.Always, To: identity.Forever}
	var err error
	if f.Subject, err = end(semconv.SubjectKind, semconv.SubjectID); err != nil {
		return f, err
	}
	if f.Object, err = end(semconv.ObjectKind, semconv.ObjectID); err != nil {
		return f, err
	}
	for key, at := range map[string]*int64{semconv.ValidFrom: &f.From, semconv.ValidTo: &f.To} {
		if text, ok := r.Attrs.Get(key); ok && text != "" {
			if *at, err = ParseTime(text); err != nil {
				return f, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return f, f.Check()
}

// Learn tells an index all that a record says: what it carries together and what it states. The error
// says why a statement was refused; the rest of the record counts all the same.
func (r *Record) Learn(x *identity.Index) error {
	x.AddSeen(r.Keys)
	links, err := r.Links()
	for _, f := range links {
		if e := x.Add(f); e != nil {
			err = e
		}
	}
	return err
}

// ParseTime reads a time attribute: RFC 3339 text, or integer Unix nanoseconds.
func ParseTime(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("%.64q is neither RFC 3339 nor Unix nanoseconds", text)
	}
	if y := t.Year(); y < 1678 || y > 2261 {
		return 0, fmt.Errorf("%.64q lies outside the years 1678 to 2261", text)
	}
	return t.UnixNano(), nil
}
