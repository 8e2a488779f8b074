package clickhouseexporter

import (
	"errors"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// contentError says that the driver could not put a value into its column.
type contentError struct{ error }

func (e *contentError) Unwrap() error { return e.error }

// Error codes of the store that speak of the rows themselves, so that sending them again changes
// nothing.
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

// Error codes that speak of anything but the rows: of the store, its disk, its load, our rights, its tables. What they
// meet is retried for as long as the configuration says; they are for people to resolve, and the data waits in the queue
// meanwhile. A code that stands in neither list may be of a row after all, see poisonTracker.
var stateCodes = map[int32]bool{
	3: true, 23: true, 24: true, 32: true, 33: true, // CANNOT_READ_…, UNEXPECTED_END_OF_FILE: a request that broke off
	16: true, 47: true, 60: true, 62: true, 81: true, 218: true, // NO_SUCH_COLUMN, UNKNOWN_IDENTIFIER, _TABLE, SYNTAX_ERROR, UNKNOWN_DATABASE, TABLE_IS_DROPPED
	74: true, 75: true, 76: true, 77: true, 96: true, 243: true, 425: true, // CANNOT_READ/WRITE/OPEN/CLOSE_FILE, NOT_ENOUGH_SPACE, SYSTEM_ERROR
	159: true, 160: true, 209: true, 210: true, 279: true, // TIMEOUT_EXCEEDED, TOO_SLOW, SOCKET_TIMEOUT, NETWORK_ERROR, ALL_CONNECTION_TRIES_FAILED
	164: true, 192: true, 193: true, 194: true, 291: true, 497: true, 516: true, // READONLY, users, passwords, access
	173: true, 201: true, 202: true, 252: true, 439: true, 473: true, // CANNOT_ALLOCATE_MEMORY, QUOTA, TOO_MANY_QUERIES, _PARTS, CANNOT_SCHEDULE_TASK, DEADLOCK_AVOIDED
	225: true, 242: true, 285: true, 286: true, 319: true, 999: true, // NO_ZOOKEEPER, TABLE_IS_READ_ONLY, replicas, quorum, KEEPER_EXCEPTION
	236: true, 394: true, // ABORTED, QUERY_WAS_CANCELLED
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

// tooMuch says that one statement may not have the memory that these rows take. The store's own memory, which others fill as
// well, is said in other words and is no matter of the rows.
func tooMuch(err error) bool {
	var e *clickhouse.Exception
	return errors.As(err, &e) && e.Code == memoryLimit && strings.Contains(e.Message, "Query memory limit")
}

// doubtful says that the rows may be to blame, which trying them apart shows.
func doubtful(err error) bool { return obscure(err) || tooMuch(err) }

// splits says that fewer rows may succeed.
func splits(err error) bool {
	var e *clickhouse.Exception
	return isContent(err) || errors.As(err, &e) && e.Code == memoryLimit
}

// obscure says that the store objects, in words that may be of a row or not.
func obscure(err error) bool {
	var e *clickhouse.Exception
	return !isContent(err) && errors.As(err, &e) && e.Code != memoryLimit && !stateCodes[e.Code]
}
