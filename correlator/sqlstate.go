package correlator

import (
	"regexp"
	"strings"
)

// sqlstates are PostgreSQL's error codes (PostgreSQL documentation, appendix A; src/backend/utils/errcodes.txt) of which one message, or
// one condition, is meant wherever they are raised: who reports a code alone says as much as who repeats the message.
var sqlstates = map[string]string{
	"08001": "could not connect to server",
	"08004": "server rejected the connection",
	"08006": "connection to server was lost",
	"22p02": "invalid input syntax",
	"23502": "violates not-null constraint",
	"23503": "violates foreign key constraint",
	"23505": "duplicate key value violates unique constraint",
	"23514": "violates check constraint",
	"25006": "cannot execute in a read-only transaction",
	"25p02": "current transaction is aborted, commands ignored until end of transaction block",
	"25p03": "terminating connection due to idle-in-transaction timeout",
	"28000": "no pg_hba.conf entry",
	"28p01": "password authentication failed",
	"3d000": "database does not exist",
	"40001": "could not serialize access",
	"40p01": "deadlock detected",
	"42501": "permission denied for relation",
	"42601": "syntax error",
	"42703": "column does not exist",
	"42883": "function does not exist",
	"42p01": "relation does not exist",
	"53100": "no space left on device",
	"53200": "out of memory",
	"53300": "sorry, too many clients already",
	"55p03": "could not obtain lock",
	"57p01": "terminating connection due to administrator command",
	"57p02": "terminating connection because of crash of another server process",
	"57p03": "the database system is starting up",
	"58030": "input/output error",
	"xx001": "data corrupted",
	"xx002": "index corrupted",
}

// sqlstateWords find a code: "(SQLSTATE 53300)", "SQLState: 57P03", "SQLSTATE[08006]", "ERROR 53300".
var sqlstateWords = regexp.MustCompile(`\b(?:sqlstate|sql_state|pgcode|error)\b[\s=:\[("']{1,4}([0-9x][0-9a-z]{4})\b`)

// bySQLState is what the codes of a text mean, a line for each whose message the text does not have by itself.
func bySQLState(text string) string {
	if !strings.Contains(text, "sqlstate") && !strings.Contains(text, "error") && !strings.Contains(text, "sql_state") && !strings.Contains(text, "pgcode") {
		return ""
	}
	var lines []string
	for _, m := range sqlstateWords.FindAllStringSubmatch(text, -1) {
		if says := sqlstates[m[1]]; says != "" && !strings.Contains(text, says) {
			lines = append(lines, says)
		}
	}
	return strings.Join(lines, "\n")
}
