package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/schema"
)

// Limits bound what a search may cost the store: rows and bytes of one statement, time of all that a page takes. 0 is no
// limit.
type Limits struct {
	Rows  uint64        `yaml:"max_rows"`
	Bytes uint64        `yaml:"max_bytes"` // uncompressed, of the columns that are read
	Time  time.Duration `yaml:"max_time"`
}

// DefaultLimits let a search look through a hundred million rows of a narrow column, or some gigabytes
// of text.
func DefaultLimits() Limits {
	return Limits{Rows: 100_000_000, Bytes: 16 << 30, Time: 20 * time.Second}
}

// Validate names the key that is wrong.
func (x Limits) Validate() error {
	if x.Time < 0 {
		return errors.New("max_time: is negative")
	}
	return nil
}

// WithLimits gives the same library with other limits of searching.
func (l *Reader) WithLimits(x Limits) *Reader {
	limited := *l
	limited.limits = x
	return &limited
}

const maxTime = "max_execution_time"

// undated hides a caller's deadline from the driver, which would put it in the place of maxTime, however late it is. The
// statement ends at it all the same.
type undated struct{ context.Context }

func (undated) Deadline() (time.Time, bool) { return time.Time{}, false }

// after gives what is left for the next statement when those before took a time. A page of a layer may take many: which
// records are of it is known only when they were read.
func (x Limits) after(spent time.Duration) (ch.Settings, error) {
	if x.Time > 0 {
		left := x
		if left.Time -= spent; left.Time < time.Millisecond {
			return nil, x.outOfTime()
		}
		return left.settings(), nil
	}
	return x.settings(), nil
}

func (x Limits) outOfTime() error {
	return &query.TooMuch{Limit: fmt.Sprintf("than %s of the store's time", x.Time)}
}

func (x Limits) settings() ch.Settings {
	return ch.Settings{
		"max_rows_to_read": x.Rows, "max_bytes_to_read": x.Bytes, "read_overflow_mode": "throw",
		maxTime: strconv.FormatFloat(x.Time.Seconds(), 'f', -1, 64), "timeout_overflow_mode": "throw",
	}
}

// Error codes of the store for what a limit forbids.
const (
	tooManyRows   = 158
	timeExceeded  = 159
	tooSlow       = 160
	tooManyBytes  = 307
	tooManyEither = 396
)

// explain says which limit an error means, where it means one.
func (x Limits) explain(err error) error {
	var limit string
	switch {
	case schema.IsCode(err, tooManyRows), schema.IsCode(err, tooManyEither):
		limit = fmt.Sprintf("than %d rows to be read", x.Rows)
	case schema.IsCode(err, tooManyBytes):
		limit = fmt.Sprintf("than %d bytes to be read", x.Bytes)
	case schema.IsCode(err, timeExceeded), schema.IsCode(err, tooSlow):
		return x.outOfTime()
	case schema.IsCode(err, memoryExceeded):
		limit = "memory than the store has for one question"
	default:
		return err
	}
	return &query.TooMuch{Limit: limit}
}
