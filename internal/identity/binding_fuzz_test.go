package identity_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// statement is an event as an emitter may send it: the event's name, then attributes in this order.
var statement = []string{
	semconv.SubjectKind, semconv.SubjectID, semconv.ObjectKind, semconv.ObjectID, semconv.ValidFrom, semconv.ValidTo,
	semconv.NodeID, semconv.NodeInstanceID, semconv.AllocationID, semconv.To,
}

// events reads one event a line, its fields parted by |.
func events(script string) (out []*record.Record) {
	for i, line := range strings.SplitN(script, "\n", 64) {
		fields := strings.Split(line, "|")
		attrs := map[string]string{}
		for j, v := range fields[1:] {
			if j < len(statement) && v != "" {
				attrs[statement[j]] = v
			}
		}
		r := &record.Record{Signal: record.Log, Name: fields[0], Time: int64(i), Observed: int64(i), Attrs: record.FromMap(attrs)}
		for j := range statement {
			if kind := identity.KindOfAttribute(statement[j]); kind != identity.NoKind {
				r.Keys = r.Keys.Add(kind, attrs[statement[j]])
			}
		}
		out = append(out, r)
	}
	return out
}

// FuzzBindings sends statements through record and index as the processor and the readers do. What is
// refused is refused for a reason that is named; what is taken says the same in every order and in no
// time; an index that forgets stays within its bound.
func FuzzBindings(f *testing.F) {
	f.Add("identity.binding|task|t|workflow|w|2026-03-02T12:00:00Z|2026-03-02T11:00:00Z", uint64(1)) // ends before it begins
	f.Add("identity.binding|tusk|t|allocation|a", uint64(2))                                         // no such kind
	f.Add("identity.binding|task|"+strings.Repeat("x", 600)+"|allocation|a", uint64(3))              // no identifier
	f.Add("identity.binding|task|t|workflow|w\nidentity.binding|workflow|w|task|t\nidentity.binding|workflow|w|request|r\nidentity.binding|request|r|workflow|w\nidentity.binding|request|r|allocation|a", uint64(4))
	f.Add("identity.binding|task|t|task|t|5|4\nidentity.binding|task|t|task|t", uint64(5))
	f.Add("node.assigned|||||||n||a\nnode.unassigned|||||||n||a\nnode.instance|||||||n|i||live\nnode.instance|||||||n|i||lost\nidentity.binding|resource|x|node|n", uint64(6))
	f.Add("identity.binding|task|t|allocation|a|-9223372036854775808|9223372036854775807\nidentity.binding|task|t|allocation|b|1|9", uint64(7))
	f.Fuzz(func(t *testing.T, script string, seed uint64) {
		all := events(script)
		x, small := identity.New(identity.Options{}), identity.New(identity.Options{MaxSubjects: 4, Forget: true, Remember: 16})
		var asked identity.Keys
		for _, r := range all {
			links, err := r.Links()
			if err != nil && len(links) > 0 && links[0].Check() == nil && !strings.Contains(err.Error(), "valid_") {
				t.Errorf("%v is refused, but %v can be", err, links)
			}
			for _, reason := range []error{identity.ErrID, identity.ErrKind, identity.ErrInterval, identity.ErrSelf} {
				if len(links) == 1 && links[0].Check() != nil && errors.Is(err, reason) && !errors.Is(links[0].Check(), reason) {
					t.Errorf("%v, %v", err, links[0].Check())
				}
			}
			_ = r.Learn(x)
			_ = r.Learn(small)
			if n := small.Stats().Subjects; n > 4 {
				t.Fatalf("%d subjects, bound 4", n)
			}
			for _, link := range links {
				asked = asked.Add(link.Subject.Kind, link.Subject.ID).Add(link.Object.Kind, link.Object.ID)
			}
		}
		y := identity.New(identity.Options{})
		for _, i := range rand.New(rand.NewPCG(seed, 3)).Perm(len(all)) { //nolint:gosec // no secret
			_ = all[i].Learn(y)
		}
		for _, k := range asked {
			for _, at := range []int64{0, 5, 1_772_452_800_000_000_000} {
				small.Resolve(identity.Keys{k}, at, at)
				if d := gocmp.Diff(x.Resolve(identity.Keys{k}, at, at), y.Resolve(identity.Keys{k}, at, at)); d != "" {
					t.Fatalf("%v at %d depends on the order:\n%s", k, at, d)
				}
			}
		}
	})
}
