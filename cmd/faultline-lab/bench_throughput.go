package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// throughput sends records in requests of 520 and reads what the Collector spent until all were written.
func (b *bench) throughput(ctx context.Context, t io.Writer) error {
	cpu := func() (time.Duration, int64) {
		for _, p := range programsRunning() {
			if p.name == "faultline-collector" {
				return p.cpu, p.rss
			}
		}
		return 0, 0
	}
	before, _ := cpu()
	rowsBefore, err := b.rows(ctx)
	if err != nil {
		return err
	}
	begun, sent := time.Now(), 0
	for i := 0; sent < b.records; i++ {
		var records []*record.Record
		for range 40 {
			now := time.Now().UTC()
			more, err := story.Parse(fmt.Sprintf(tale, 1_000_000+sent+len(records), now.Format(time.RFC3339Nano), now.Format(time.RFC3339Nano), now.Format(time.RFC3339Nano)))
			if err != nil {
				return err
			}
			records = append(records, more...)
		}
		if err := b.send(ctx, records); err != nil {
			return err
		}
		sent += len(records)
	}
	for time.Since(begun) < 5*time.Minute {
		n, err := b.rows(ctx)
		if err != nil {
			return err
		}
		if n-rowsBefore >= sent {
			after, rss := cpu()
			took := time.Since(begun)
			_, _ = fmt.Fprintf(t, "Collector CPU per 1,000 records\t%d log records, OTLP/JSON, 520 a request\t%s\n", sent, ((after - before) * 1000 / time.Duration(sent)).Round(10*time.Microsecond))
			_, _ = fmt.Fprintf(t, "sent to written\t%d records\t%.0f records/s\n", sent, float64(sent)/took.Seconds())
			_, _ = fmt.Fprintf(t, "Collector memory after that\t\t%.0f MB\n", float64(rss)/1e6)
			return nil
		}
		pause(ctx, 20*time.Millisecond)
	}
	return fmt.Errorf("not all of %d records were written within 5 minutes", sent)
}

// rows reads the exporter's own count of written rows.
func (b *bench) rows(ctx context.Context) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.product.CollectorMetrics, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	total := 0.0
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "faultline_exporter_rows_total") {
			v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				return 0, fmt.Errorf("read the Collector's metrics: %w", err)
			}
			total += v
		}
	}
	return int(total), nil
}
