package clickhouseexporter

import (
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// contentError says that the driver could not put a value into its column.
type contentError struct{ error }

func (e *contentError) Unwrap() error { return e.error }

// Error codes of the store that speak of the rows themselves, so that sending them again changes
// nothing. Everything else is retried for as long as the configuration says: a full disk, missing
// rights, a missing table or column are for people to mend, and the data waits in the queue meanwhile.
var contentCodes = map[int32]bool{
	6:   true, // CANNOT_PARSE_TEXT
	53:  true, // TYPE_MISMATCH
	69:  true, // ARGUMENT_OUT_OF_BOUND
	70:  true, // CANNOT_CONVERT_TYPE
	117: true, // INCORRECT_DATA
	128: true, // TOO_LARGE_ARRAY_SIZE
	131: true, // TOO_LARGE_STRING_SIZE
	321: true, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
	469: true, // VIOLATED_CONSTRAINT
}

const memoryLimit = 241 // MEMORY_LIMIT_EXCEEDED: half the batch may fit

// isContent says that the store or the driver cannot take these rows, now or later.
func isContent(err error) bool {
	var c *contentError
	if errors.As(err, &c) {
		return true
	}
	var e *clickhouse.Exception
	return errors.As(err, &e) && contentCodes[e.Code]
}

// splits says that fewer rows may succeed.
func splits(err error) bool {
	var e *clickhouse.Exception
	return isContent(err) || errors.As(err, &e) && e.Code == memoryLimit
}
