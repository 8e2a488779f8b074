package schema

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

var granules = regexp.MustCompile(`Granules: (\d+)/(\d+)`)

// Every way in which evidence is looked for reads a part of the table.
func TestNoLookupScansTheTable(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	// 100,000 records in 156 granules: half of 500 allocations, half of nobody on 100 nodes.
	if err := conn.Exec(t.Context(), `INSERT INTO events (key, signal, time, ingested_time, service, trace_id, workflow_id, allocation_id, node_id, node_instance_id, keys_rest)
SELECT substring(lower(hex(MD5(toString(number)))), 1, 12), 'log', fromUnixTimestamp64Nano(1772445851000000000 + number * 1000000), now64(9), concat('svc-', toString(number % 7)),
lower(hex(MD5(toString(intDiv(number, 10))))), concat('w-', toString(intDiv(number, 100))),
if(number % 2 = 0, concat('a-', leftPad(toString(intDiv(number, 200)), 4, '0')), ''), concat('n-', leftPad(toString(intDiv(number, 1000)), 4, '0')),
concat('i-', toString(intDiv(number, 1000))), [concat('request:r-', toString(intDiv(number, 10)))]
FROM numbers(100000)`); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(t.Context(), "OPTIMIZE TABLE events FINAL"); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		where string
		rows  int
	}{
		{"allocation_id = 'a-0100'", 100},
		{"allocation_id = '' AND node_id = 'n-0042'", 500},
		{"node_id = 'n-0042'", 1000},
		{"node_instance_id = 'i-42'", 1000},
		{"trace_id = lower(hex(MD5('77')))", 10},
		{"workflow_id = 'w-77'", 100},
		{"has(keys, 'request:r-77')", 10},
		{"has(keys, 'node_instance:i-42')", 1000},
	}
	for _, c := range cases {
		var n uint64
		if err := conn.QueryRow(t.Context(), "SELECT count() FROM events WHERE "+c.where).Scan(&n); err != nil || int(n) != c.rows {
			t.Errorf("%s: %d rows, want %d, %v", c.where, n, c.rows, err)
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN indexes = 1 SELECT body FROM events WHERE "+c.where)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, line)
		}
		_ = rows.Close()
		all := granules.FindAllStringSubmatch(strings.Join(plan, "\n"), -1)
		if len(all) == 0 {
			t.Fatalf("%s: no plan:\n%s", c.where, strings.Join(plan, "\n"))
		}
		left, _ := strconv.Atoi(all[len(all)-1][1])
		whole, _ := strconv.Atoi(all[0][2])
		if whole < 150 || left > whole/5 {
			t.Errorf("%s reads %d of %d granules:\n%s", c.where, left, whole, strings.Join(plan, "\n"))
		}
	}
}
