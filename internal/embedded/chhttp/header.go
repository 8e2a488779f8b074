package chhttp

import (
	"encoding/json"
	"strings"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// header writes the block without rows that a server sends for an empty result and the engine doesn't: without it the
// driver knows no columns. Where the query can't be described, the result stays empty.
func (s *session) header(text string, params map[string]string, out *reply) error {
	query := strings.TrimRight(text, " \t\r\n;")
	if m := formatPattern.FindStringIndex(query); m != nil {
		query = query[:m[0]]
	}
	describe := []byte("DESCRIBE TABLE (\n" + query + "\n)")
	if a, err := s.Classify(describe); err != nil || a.Statements != 1 || a.Class != chdb.ReadOnly {
		return nil //nolint:nilerr // not described: the result stays empty
	}
	b, _, err := s.Query(describe, "JSONCompact", params)
	if err != nil {
		return nil //nolint:nilerr // not described: the result stays empty
	}
	var d struct {
		Data [][]string `json:"data"`
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return nil //nolint:nilerr // not described: the result stays empty
	}
	var columns []column
	for _, row := range d.Data {
		if len(row) < 2 {
			return nil
		}
		columns = append(columns, column{name: row[0], typ: row[1]})
	}
	_, err = out.Write(block(0, 0, columns))
	return err
}
