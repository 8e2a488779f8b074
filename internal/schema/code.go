package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// IsCode says whether the store answered with this error code. Over HTTP the driver gives some answers
// as text alone.
func IsCode(err error, code int32) bool {
	var e *clickhouse.Exception
	if errors.As(err, &e) {
		return e.Code == code
	}
	return err != nil && strings.Contains(err.Error(), fmt.Sprintf("Code: %d.", code))
}
