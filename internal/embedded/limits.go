package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// checkLimits reads the limits back from the running engine: one that it doesn't know, or didn't take, is an error.
func (c Config) checkLimits(conn *chdb.Conn) error {
	b, _, err := conn.Query([]byte("SELECT name, value FROM system.server_settings"), "JSONCompact", nil)
	if err != nil {
		return fmt.Errorf("read the engine's settings: %w", err)
	}
	got, err := pairs(b)
	if err != nil {
		return fmt.Errorf("read the engine's settings: %w", err)
	}
	var errs []error
	for _, s := range c.serverSettings() {
		switch v, ok := got[s.name]; {
		case !ok:
			errs = append(errs, fmt.Errorf("%s: the engine does not know it", s.name))
		case v != strconv.FormatInt(s.value, 10):
			errs = append(errs, fmt.Errorf("%s: want %d, the engine has %s", s.name, s.value, v))
		}
	}
	if b, _, err = conn.Query([]byte("SELECT name, value FROM system.merge_tree_settings WHERE name = 'fsync_after_insert'"), "JSONCompact", nil); err != nil {
		return fmt.Errorf("read the engine's table settings: %w", err)
	}
	table, err := pairs(b)
	if err != nil {
		return fmt.Errorf("read the engine's table settings: %w", err)
	}
	if c.Fsync && table["fsync_after_insert"] != "1" {
		errs = append(errs, fmt.Errorf("fsync_after_insert: want 1, the engine has %q", table["fsync_after_insert"]))
	}
	if len(errs) > 0 {
		return fmt.Errorf("the engine does not keep its limits, so it is not started: %w", errors.Join(errs...))
	}
	return nil
}

// pairs reads a result of two string columns.
func pairs(b []byte) (map[string]string, error) {
	var r struct {
		Data [][2]string `json:"data"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(r.Data))
	for _, p := range r.Data {
		out[p[0]] = p[1]
	}
	return out, nil
}
