package live

import (
	"fmt"
	"slices"
	"testing"

	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/internal/story"
)

// What was rolled out is known for hours, however many complaints of others came since: what broke, and what was taken back, is asked for late.
func TestRolloutsOutliveComplaints(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	text := "08:00:00 deployer deploy.change component=db version=9 from=8 to=9\n12:00:00 deployer deploy.change component=api version=2 from=1 to=2\n12:05:00 deployer deploy.change component=api version=1 from=2 to=1\n"
	for i := range 9000 {
		text += fmt.Sprintf("12:%02d:%02d api error | failure %d of another\n", 10+i/600, i/10%60, i)
	}
	records, err := story.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWorkingSet(p, rules.All(), DefaultBounds())
	for part := range slices.Chunk(records, 500) {
		w.Add(part, nil)
	}
	var rollouts []string
	for _, e := range w.context {
		if e.Is(semconv.EventDeploy) {
			rollouts = append(rollouts, e.Attr(semconv.Component)+" "+e.To())
		}
	}
	if !slices.Equal(rollouts, []string{"api 2", "api 1"}) || len(w.context) > DefaultBounds().Context {
		t.Errorf("rollouts %q among %d", rollouts, len(w.context))
	}
}
