package chhttp

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// serve runs the request's statement and answers.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, q *request) {
	rec := Record{QueryID: q.id, Started: s.o.Now(), Database: q.database}
	out := newReply(w, q, s.version, s.o.Stall)
	stats, err := s.run(w, r, q, out, &rec)
	rec.add(stats)
	s.observe(rec, err) // before the response ends, so that whoever has it finds the record
	if err != nil {
		out.fail(asException(err))
		return
	}
	if err := out.finish(stats, s.o.Now().Sub(rec.Started)); err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or must see that the result is not whole
	}
}

func (s *Server) run(w http.ResponseWriter, r *http.Request, q *request, out *reply, rec *Record) (chdb.Stats, error) {
	insert, format, isInsert := splitInsert(q.text)
	limit := s.o.MaxStatement
	if isInsert {
		limit = s.o.MaxBody
	}
	data, err := newBody(r, w, q, limit, s.o.Stall)
	if err != nil {
		return chdb.Stats{}, err
	}
	defer data.close()
	text := q.text
	if !isInsert {
		// Read before a session is taken: a slow sender must not hold one.
		b, err := data.all()
		if err != nil {
			return chdb.Stats{}, err
		}
		if text != "" && len(b) > 0 {
			text += "\n"
		}
		text += string(b)
	}
	rec.Statement = strings.ToValidUTF8(text[:min(len(text), historyText)], "")
	if helloPattern.MatchString(text) {
		_, err := out.Write(hello(revision(r), s.version))
		return chdb.Stats{ResultRows: 1}, err
	}
	if int64(len(text)) > s.o.MaxStatement {
		return chdb.Stats{}, refusal(tooLarge, fmt.Sprintf("the statement is larger than %d bytes", s.o.MaxStatement))
	}
	text = s.flights.translateKill(text)

	c, err := s.pool.acquire(r.Context())
	if err != nil {
		return chdb.Stats{}, err
	}
	defer s.pool.release(c)
	sound := false
	defer func() { c.spoilt = c.spoilt || !sound }() // after a panic nothing is known of the session
	ctx, land := s.flights.begin(r.Context(), q.id, c.tag)
	defer land()
	stats, err := s.execute(ctx, c, q, statement{text: text, insert: insert, format: format, isInsert: isInsert}, data, out, rec)
	sound = true
	return stats, err
}

// statement is what a session is to run.
type statement struct {
	text           string
	insert, format string // of an INSERT whose data is the body
	isInsert       bool
}

func (s *Server) execute(ctx context.Context, c *session, q *request, st statement, data *body, out *reply, rec *Record) (chdb.Stats, error) {
	if c.fixed(q.settings) {
		c.spoilt = true
		if err := s.pool.renew(c); err != nil {
			return chdb.Stats{}, err
		}
	}
	if err := c.prepare(q.database, q.settings); err != nil {
		return chdb.Stats{}, err
	}
	a, err := c.Classify([]byte(st.text))
	if err != nil {
		return chdb.Stats{}, err
	}
	first := words(st.text, 2)
	if a.Statements == 0 {
		return chdb.Stats{}, c.explainSyntax(st.text)
	}
	if err := permit(a, first, q.get); err != nil {
		return chdb.Stats{}, err
	}
	c.spoilt = c.spoilt || lasting(first)
	if st.isInsert {
		rec.Exact = true
		return c.take(ctx, st, q.params, data)
	}
	format := outputFormat(st.text, q.format)
	h := out.w.Header()
	h.Set("X-ClickHouse-Format", format)
	h.Set("Content-Type", contentType(format))
	selects := streams(a, first)
	if !selects || q.hold {
		b, stats, err := c.Query([]byte(st.text), q.format, q.params)
		if err == nil && len(b) == 0 && selects && format == "Native" {
			err = c.header(st.text, q.params, out)
		}
		if err != nil {
			return stats, err
		}
		rec.Exact = true
		_, err = out.Write(b)
		return stats, err
	}
	return c.stream(ctx, st.text, format, q, out)
}

// stream runs a SELECT whose result leaves while it is made. What its chunks say of rows read is a lower bound: the engine
// drops progress that falls between two of them.
func (s *session) stream(ctx context.Context, text, format string, q *request, out *reply) (total chdb.Stats, err error) {
	wrote := false
	err = s.Stream([]byte(text), q.format, q.params, func(b []byte, part chdb.Stats) error {
		total = total.Add(part)
		if err := ctx.Err(); err != nil {
			return err
		}
		wrote = wrote || len(b) > 0
		_, err := out.Write(b)
		return err
	})
	if err == nil && !wrote && format == "Native" {
		err = s.header(text, q.params, out)
	}
	return total, err
}

// explainSyntax gets the engine's own words on a text that doesn't parse, without running any of it.
func (s *session) explainSyntax(text string) error {
	if strings.TrimSpace(text) == "" {
		return refusal(syntaxError, "Empty query")
	}
	if _, _, err := s.Query([]byte("SELECT formatQuery({q:String})"), "Null", map[string]string{"q": escapeParam(text)}); err != nil {
		return err
	}
	return refusal(syntaxError, "the text holds no statement that this version can classify")
}

// escapeParam writes a string as a parameter's text, where backslashes, tabs and newlines are escapes.
func escapeParam(v string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(v)
}

func contentType(format string) string {
	switch format {
	case "JSON", "JSONCompact", "JSONStrings":
		return "application/json; charset=UTF-8"
	case "JSONEachRow", "JSONCompactEachRow":
		return "application/x-ndjson; charset=UTF-8"
	case "CSV", "CSVWithNames", "CSVWithNamesAndTypes":
		return "text/csv; charset=UTF-8"
	case "TSV", "TabSeparated", "TSVWithNames", "TSVWithNamesAndTypes", "TabSeparatedWithNames", "TabSeparatedWithNamesAndTypes":
		return "text/tab-separated-values; charset=UTF-8"
	}
	return "application/octet-stream"
}
