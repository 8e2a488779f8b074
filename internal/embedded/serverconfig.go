package embedded

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// serverSetting is one setting of the engine that takes effect only in its configuration file.
type serverSetting struct {
	name  string
	value int64
}

// serverSettings are the limits that the engine gets, and that limits.go reads back from it. Left alone it takes 90 % of
// the host's memory, and several caches of 5 GiB.
func (c Config) serverSettings() []serverSetting {
	index := int64(c.IndexCache)
	return []serverSetting{
		{"max_server_memory_usage", int64(c.MemoryLimit)},
		{"mark_cache_size", int64(c.MarkCache)},
		{"uncompressed_cache_size", int64(c.UncompressedCache)},
		{"index_mark_cache_size", index},
		{"index_uncompressed_cache_size", 0},
		{"primary_index_cache_size", index},
		{"text_index_tokens_cache_size", index},
		{"text_index_header_cache_size", index},
		{"text_index_postings_cache_size", index},
		{"vector_similarity_index_cache_size", int64(MiB)},
		{"query_condition_cache_size", int64(16 * MiB)},
		{"compiled_expression_cache_size", int64(16 * MiB)},
		{"iceberg_metadata_files_cache_size", int64(MiB)},
		{"parquet_metadata_cache_size", int64(MiB)},
		{"unique_key_index_cache_size_bytes", int64(MiB)},
		{"mmap_cache_size", 64},
	}
}

// writeServerConfig writes the engine's configuration file and returns its path. The engine would read ./config.xml
// without one.
func (c Config) writeServerConfig() (string, error) {
	var b bytes.Buffer
	b.WriteString("<!-- Written at every start of the store: changes are lost. -->\n<clickhouse>\n")
	put := func(name, value string) {
		fmt.Fprintf(&b, "  <%s>", name)
		_ = xml.EscapeText(&b, []byte(value))
		fmt.Fprintf(&b, "</%s>\n", name)
	}
	for _, s := range c.serverSettings() {
		put(s.name, strconv.FormatInt(s.value, 10))
	}
	put("timezone", "UTC")
	// No <console>: it would write every trace line there, whatever the level.
	b.WriteString("  <logger><level>warning</level></logger>\n")
	fsync := "0"
	if c.Fsync {
		fsync = "1"
	}
	fmt.Fprintf(&b, "  <merge_tree>\n    <fsync_after_insert>%[1]s</fsync_after_insert>\n    <fsync_part_directory>%[1]s</fsync_part_directory>\n", fsync)
	if c.Fsync {
		// A merge replaces parts that were synced: its result has to be as well.
		b.WriteString("    <min_rows_to_fsync_after_merge>1</min_rows_to_fsync_after_merge>\n")
	}
	b.WriteString("  </merge_tree>\n</clickhouse>\n")
	path := filepath.Join(c.DataDir, "engine.xml")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return "", fmt.Errorf("write the engine's configuration: %w", err)
	}
	return path, nil
}
