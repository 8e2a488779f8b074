package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// On a cluster every migration is the same file, said otherwise: each table becomes one of its shards' replicated parts
// (events_local) and a Distributed table over them under the table's own name, so that readers and writers see no
// difference. Views that feed tables work within a shard; views that people ask work over all.
//
// The servers' configuration has to define the macros {shard} and {replica}, and Keeper.

// errCluster says that a store is a cluster and was met as a single server.
var errCluster = errors.New("the store is a cluster: run faultline migrate --cluster NAME")

// shards says by what each table's rows are spread. All of an allocation lies on one shard; records of nobody follow
// their node, else their service, so that no shard has all of them. A table that a feed fills has its rows where the rows are that they
// were made of, whatever its key says: either both go by the same value, or nothing may be concluded from the key (scattered).
var shards = map[string]string{
	"events":          "cityHash64(multiIf(allocation_id != '', allocation_id, node_id != '', node_id, service))",
	"links":           "cityHash64(subject_kind, subject_id)", // the same link told twice meets itself
	"links_by_object": "cityHash64(subject_kind, subject_id)",
	"links_by_time":   "cityHash64(subject_kind, subject_id)",
	"liveness":        scattered,
	"allocations":     "cityHash64(allocation_id)",
	"labels":          "cityHash64(allocation_id)",
	"key_locations":   scattered,
	"states":          "cityHash64(allocation_id)",
	"verdicts":        "cityHash64(allocation_id)",
	"assessments":     "cityHash64(allocation_id)",
	"supplements":     "cityHash64(allocation_id)",
	"replicas":        "cityHash64(replica)",
	"steps":           "cityHash64(allocation_id)",
}

// scattered: a row may be on any shard, and whoever asks asks them all, whatever the settings.
const scattered = "rand()"

var clusterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// ValidCluster refuses what can't be a cluster's name without quotes.
func ValidCluster(name string) error {
	if !clusterName.MatchString(name) {
		return fmt.Errorf("%q is not a name of letters, digits and underscores", name)
	}
	return nil
}

var (
	leadingComment = regexp.MustCompile(`^(?:--[^\n]*\n)+`)
	createTable    = regexp.MustCompile(`(?s)^CREATE TABLE IF NOT EXISTS (\w+)\s+(\(.*\))\s+ENGINE = (\w*MergeTree)(?:\(([^)]*)\))?(\s.*)$`)
	createFeed     = regexp.MustCompile(`(?s)^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+)\s+AS\s(.*)$`)
	createView     = regexp.MustCompile(`(?s)^CREATE (OR REPLACE )?VIEW (IF NOT EXISTS )?(\w+)(\s.*)$`)
	alterTable     = regexp.MustCompile(`(?s)^ALTER TABLE (\w+)(\s.*)$`)
	fromTable      = regexp.MustCompile(`\bFROM (\w+)\b`)
	alterColumn    = regexp.MustCompile(`\b(ADD|DROP|MODIFY|RENAME|CLEAR|COMMENT) COLUMN\b`)
)

// statements gives what a migration is on a cluster; on a single server ("") it is itself.
func (m Migration) statements(cluster string) ([]string, error) {
	if cluster == "" {
		return []string{m.SQL}, nil
	}
	if err := ValidCluster(cluster); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	out, err := onCluster(leadingComment.ReplaceAllString(m.SQL, ""), cluster)
	if err != nil {
		return nil, fmt.Errorf("migration %s: %w", m.Name, err)
	}
	return out, nil
}

// steps gives the statements of a migration, with the retention of the table that it makes.
func (m Migration) steps(cluster string) ([]string, error) {
	out, err := m.statements(cluster)
	if err != nil {
		return nil, err
	}
	made := createTable.FindStringSubmatch(leadingComment.ReplaceAllString(m.SQL, ""))
	for _, u := range DefaultRetention().rules() {
		if made != nil && u.table == made[1] {
			out = append(out, u.statement(cluster))
		}
	}
	return out, nil
}

func onCluster(text, cluster string) ([]string, error) {
	if p := createTable.FindStringSubmatch(text); p != nil {
		table, columns, engine, arguments, rest := p[1], p[2], p[3], p[4], p[5]
		key, ok := shards[table]
		if !ok {
			return nil, fmt.Errorf("table %s has no sharding key in shards (cluster.go)", table)
		}
		if arguments != "" {
			arguments = ", " + arguments
		}
		rest = strings.Replace(rest, "non_replicated_deduplication_window", "replicated_deduplication_window", 1)
		return []string{
			fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s_local ON CLUSTER %s\n%s\nENGINE = Replicated%s('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'%s)%s",
				table, cluster, columns, engine, arguments, rest),
			fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s ON CLUSTER %s AS %s_local\nENGINE = Distributed('%s', currentDatabase(), '%s_local', %s)",
				table, cluster, table, cluster, table, key),
		}, nil
	}
	if p := createFeed.FindStringSubmatch(text); p != nil {
		query, n := p[3], 0
		query = fromTable.ReplaceAllStringFunc(query, func(s string) string { n++; return s + "_local" })
		if n != 1 {
			return nil, fmt.Errorf("a view that feeds a table reads one table, %s reads %d", p[1], n)
		}
		return []string{fmt.Sprintf("CREATE MATERIALIZED VIEW IF NOT EXISTS %s ON CLUSTER %s TO %s_local AS\n%s", p[1], cluster, p[2], query)}, nil
	}
	if p := createView.FindStringSubmatch(text); p != nil {
		return []string{fmt.Sprintf("CREATE %sVIEW %s%s ON CLUSTER %s%s", p[1], p[2], p[3], cluster, p[4])}, nil
	}
	if p := alterTable.FindStringSubmatch(text); p != nil {
		out := []string{fmt.Sprintf("ALTER TABLE %s_local ON CLUSTER %s%s", p[1], cluster, p[2])}
		if alterColumn.MatchString(p[2]) {
			out = append(out, fmt.Sprintf("ALTER TABLE %s ON CLUSTER %s%s", p[1], cluster, p[2]))
		}
		return out, nil
	}
	return nil, errors.New("no rule says what this statement is on a cluster (cluster.go)")
}
