package provided

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/lab/latency"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Times of life in the experiment. A playbook that ends between two polls of AAP is seen at the second
// one, so what is measured there is the API's time to launch and whole polls: 1.6 + 150 s to provision and
// 4.4 + 110 s to deprovision on average, 151.6 and 114.4. EDA's marks are seen within a second: 158 and 74.
const (
	statusPoll   = 30 * time.Second
	watchPoll    = time.Second
	launchCreate = 1600 * time.Millisecond
	launchDelete = 4400 * time.Millisecond
)

// Playbooks' times by run; runs beyond the third begin again.
var (
	aapCreate = []float64{110, 135, 165} // polls at 120, 150, 180
	aapDelete = []float64{75, 105, 105}  // polls at 90, 120, 120
	edaCreate = []float64{149.3, 157.3, 165.3}
	edaDelete = []float64{69.3, 73.3, 77.3}
)

// MeasureLatency provisions and deprovisions runs allocations with each provider, all at once, scale
// seconds of the clock for one second of life, and leaves the telemetry in dir. It gives the file's name.
func MeasureLatency(ctx context.Context, dir string, runs int, scale float64) (file string, err error) {
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * scale) }
	takes := func(create, remove []float64) func(string, bool) time.Duration {
		return func(resource string, deletes bool) time.Duration {
			run, _ := strconv.Atoi(resource[strings.LastIndexByte(resource, '-')+1:])
			times := create
			if deletes {
				times = remove
			}
			return time.Duration(times[run%len(times)] * float64(time.Second) * scale)
		}
	}
	c := DefaultConfig(dir)
	c.Poll, c.Watch, c.Timeout = scaled(statusPoll), scaled(watchPoll), 30*time.Second
	c.Workflow.JobTime, c.Workflow.JobLease = scaled(time.Hour), time.Minute
	c.AAP.Takes, c.EDA.Takes = takes(aapCreate, aapDelete), takes(edaCreate, edaDelete)
	c.AAP.Launching = func(deletes bool) time.Duration {
		if deletes {
			return scaled(launchDelete)
		}
		return scaled(launchCreate)
	}
	p, err := Start(ctx, c)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.Close(ctx)) }()
	p.emitter.Emitter("lab").Log(ctx, telemetry.Info, "latency experiment", slog.Float64(latency.ScaleKey, scale), slog.Int("runs", runs))
	batch := telemetry.NewID("lat")
	work, ctx := errgroup.WithContext(ctx)
	for _, pool := range []string{PoolAAP, PoolEDA} {
		for run := range runs {
			work.Go(func() error {
				return p.live(ctx, fmt.Sprintf("%s-%s-%d", batch, strings.TrimPrefix(pool, "pool-"), run), pool, scaled(time.Hour))
			})
		}
	}
	return p.TelemetryFile(), work.Wait()
}

// live is one allocation, wanted and given back.
func (p *Platform) live(ctx context.Context, id, pool string, patience time.Duration) error {
	if err := p.Create(ctx, id, pool, hubsim.Well); err != nil {
		return err
	}
	if err := p.Reaches(ctx, id, semconv.Active, patience); err != nil {
		return err
	}
	ctx = telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
	if _, err := p.Control.Release(ctx, id, control.Asker{Actor: "alice", ActorType: "user", Reason: "measured"}); err != nil {
		return err
	}
	return p.Reaches(ctx, id, semconv.Released, patience)
}
