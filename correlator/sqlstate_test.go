package correlator

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// A message is understood in whatever language its program speaks, and so is a code that stands for it; what a record that tells of no trouble says in
// English is left as it is.
func TestWordsAreUnderstoodInOtherLanguages(t *testing.T) {
	p, err := profile.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		severity   int
		body, adds string
	}{
		{severityError, "FEHLER:  Relation »nodes« existiert nicht", "relation \"nodes\" does not exist"},
		{severityError, "écriture de /srv/images: Aucun espace disponible sur le périphérique", "no space left on device"},
		{severityError, "store: ERROR 53300", "sorry, too many clients already"},
		{severityError, "release failed: db error (SQLSTATE 57P01)", "terminating connection due to administrator command"},
		{severityError, "psycopg2.errors: pgcode='40P01'", "deadlock detected"},
		{severityError, "ERROR: sorry, too many clients already (SQLSTATE 53300)", ""},
		{severityError, "error 53300x and error 99999, http error 503", ""},
		{9, "Verbindungsaufbau abgelehnt", ""},
		{9, "PANIK »nodes«: Verbindungsaufbau abgelehnt", "connection refused"},
	} {
		e := &Event{Record: &record.Record{Signal: record.Log, Service: "postgres", Severity: c.severity, Body: c.body}}
		e.read(p)
		if got := strings.TrimPrefix(e.Text, strings.ToLower(c.body)); strings.TrimSpace(got) != c.adds {
			t.Errorf("%q means %q, too, want %q", c.body, got, c.adds)
		}
	}
}
