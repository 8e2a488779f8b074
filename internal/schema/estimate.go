package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// sampleRows is how many rows say what share of a table's bytes each column has.
const sampleRows = 65_536

// column is one that is stored.
type column struct{ name, kind, codec string }

// serialized is a column's size before it is compressed, as an expression: a text's letters and its length, the number
// of a word in a dictionary, else what the value takes. Defaults, which most columns hold for most rows, take next to
// nothing: the store leaves them out.
func (c column) serialized() string {
	switch name := quote(c.name); {
	case c.kind == "String":
		return "sumIf(length(" + name + ") + 1, " + name + " != '')"
	case strings.HasPrefix(c.kind, "LowCardinality"):
		return "countIf(" + name + " != '')"
	default:
		return "sumIf(byteSize(" + name + "), " + name + " != defaultValueOfArgumentType(" + name + "))"
	}
}

// compressed is the column's own codec as a parameter of the engine's estimate, "" for the default one.
func (c column) compressed() string {
	inner, ok := strings.CutPrefix(c.codec, "CODEC(")
	if !ok {
		return ""
	}
	return "('" + strings.ReplaceAll(strings.TrimSuffix(inner, ")"), "'", `\'`) + "')"
}

// estimate divides the bytes of parts that keep all columns in one file (the store doesn't say how much of it is whose)
// among the columns, by what the engine's own estimate of their compression says of a sample.
func (t *TableStats) estimate(ctx context.Context, conn driver.Conn, columns []column) error {
	if t.SmallBytes == 0 || t.Rows == 0 || len(columns) == 0 {
		return nil
	}
	var ask, names []string
	for _, c := range columns {
		ask = append(ask, fmt.Sprintf("toFloat64(%s) / greatest(estimateCompressionRatio%s(%s), 1)", c.serialized(), c.compressed(), quote(c.name)))
		names = append(names, quote(c.name))
	}
	sizes := make([]float64, len(columns))
	to := make([]any, len(columns))
	for i := range sizes {
		to[i] = &sizes[i]
	}
	query := fmt.Sprintf("SELECT %s FROM (SELECT %s FROM %s LIMIT %d)", strings.Join(ask, ", "), strings.Join(names, ", "), quote(t.Table), sampleRows)
	if err := conn.QueryRow(ctx, query).Scan(to...); err != nil {
		return fmt.Errorf("estimate the columns of %s: %w", t.Table, err)
	}
	all := 0.0
	for _, s := range sizes {
		all += s
	}
	if all == 0 {
		return nil
	}
	left := t.SmallBytes
	for i, c := range columns {
		part := min(left, uint64(float64(t.SmallBytes)*sizes[i]/all))
		k := slices.IndexFunc(t.Columns, func(x ColumnStats) bool { return x.Column == c.name })
		t.Columns[k].Bytes, left = t.Columns[k].Bytes+part, left-part
		t.Columns[k].BytesPerRow = per(t.Columns[k].Bytes, t.Rows)
	}
	slices.SortStableFunc(t.Columns, func(a, b ColumnStats) int { return int(b.Bytes) - int(a.Bytes) }) //nolint:gosec // bytes on one disk
	t.Columns[0].Bytes += left                                                                          // what rounding left over
	t.Columns[0].BytesPerRow = per(t.Columns[0].Bytes, t.Rows)
	t.Estimated = true
	return nil
}
