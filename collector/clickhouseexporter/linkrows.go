package clickhouseexporter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// linkColumns are the columns of `links` that are written, in this order.
var linkColumns = []string{
	"subject_kind", "subject_id", "object_kind", "object_id", "type", "valid_from", "valid_to",
	"service", "ref", "observed_time",
}

// links is what a batch has for `links`.
type links struct {
	stated   []statedLink
	store    *store
	ingested time.Time // zero: as the store's clock says
}

var _ insertable = links{}

func (f links) table() string   { return "links" }
func (f links) names() []string { return withIngested(linkColumns, f.ingested) }
func (f links) rows() int       { return len(f.stated) }

func (f links) token(from, to int) string {
	h := sha256.New()
	for _, one := range f.stated[from:to] {
		_, _ = fmt.Fprintf(h, "%v %q %d\n", one.link, one.service, one.observed)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// settings have no token: of a link told twice one row stays in any case.
func (f links) settings(int, int) clickhouse.Settings { return clickhouse.Settings{"async_insert": 0} }

func (f links) columns(from, to int) []any {
	n := to - from
	var text [7][]string
	for i := range text {
		text[i] = make([]string, 0, n)
	}
	begin, end := make([]int64, 0, n), make([]int64, 0, n)
	observed := make([]time.Time, 0, n)
	for _, one := range f.stated[from:to] {
		for i, v := range [...]string{
			one.link.Subject.Kind.String(), one.link.Subject.ID, one.link.Object.Kind.String(), one.link.Object.ID,
			one.link.Type.String(), one.service, one.ref,
		} {
			text[i] = append(text[i], v)
		}
		begin, end = append(begin, one.link.From), append(end, one.link.To)
		observed = append(observed, time.Unix(0, one.observed))
	}
	out := []any{text[0], text[1], text[2], text[3], text[4], begin, end, text[5], text[6], observed}
	if !f.ingested.IsZero() {
		out = append(out, slices.Repeat([]time.Time{f.ingested}, n))
	}
	return out
}

func (f links) stored(ctx context.Context, rows int) { f.store.metrics.links.Add(ctx, int64(rows)) }

// dropped tells of a link that is lost while its record is kept; other links may lead to that all the same.
func (f links) dropped(ctx context.Context, row int, err error) {
	f.store.metrics.refused.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", "store")))
	one := f.stated[row]
	f.store.log.Error("the store cannot take a link, it is dropped",
		zap.Stringer("subject_kind", one.link.Subject.Kind), zap.String("subject_id", one.link.Subject.ID),
		zap.Stringer("object_kind", one.link.Object.Kind), zap.String("object_id", one.link.Object.ID),
		zap.Stringer("type", one.link.Type), zap.String("service", one.service), zap.Error(err))
}
