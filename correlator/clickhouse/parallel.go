package clickhouse

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// questionsAtOnce is how many questions of one reading are under way together: most of them wait for the store's planning, not its disks.
const questionsAtOnce = 4

// parallel are questions that do not depend on one another.
type parallel[T any] []func(context.Context) (T, error)

// run asks them, a few at a time, and gives the answers in the order of the questions, or the first error.
func (q parallel[T]) run(ctx context.Context) ([]T, error) {
	out := make([]T, len(q))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(questionsAtOnce)
	for i, ask := range q {
		work.Go(func() (err error) {
			out[i], err = ask(ctx)
			return err
		})
	}
	return out, work.Wait()
}
