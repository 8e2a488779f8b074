package clickhouse

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

//go:embed sql/*.sql
var files embed.FS

// choice is what the text of a statement depends on. Values are parameters and never part of the text.
type choice struct {
	Condition   string   // the file that says which rows: filter_* for reading.sql, match_* for search.sql
	Located     bool     // where to look is known: {places}, {first_minute}, {last_minute}
	Named       bool     // there are allocations to ask about: {named}
	Since       bool     // only what is newer: {since}
	Words       int      // of which each has to be there: {word0}, {word1}, …
	Identifiers []column // {identifier0}, {identifier1}, …
	Attributes  int      // {name0} = {value0}, …
}

// column is where a row keeps its first identifier of a kind.
type column struct{ identity.Kind }

// Own says that it has a column of its own, named as the attribute.
func (c column) Own() bool { return c.Storage() != identity.InList }

// value is what the column holds of an identifier.
func (c column) value(id string) string {
	if c.Own() {
		return id
	}
	return c.String() + ":" + id
}

// idColumns are the identifiers that a row keeps in columns of their own, named as the attributes are, in
// the order in which record_columns.sql lists them.
var idColumns = func() (names []string) {
	for kind := range identity.Kinds() {
		if kind.Storage() == identity.InColumn {
			names = append(names, kind.Attribute())
		}
	}
	return names
}()

// statements are the files of sql/ as templates, by their names without the ending.
var statements = parse()

func parse() *template.Template {
	all := template.New("sql").Option("missingkey=error")
	all.Funcs(template.FuncMap{
		"idColumns": func() []string { return idColumns },
		"condition": func(c choice) (string, error) { return render(all, c.Condition, c) },
	})
	names, err := files.ReadDir("sql")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, f := range names {
		text, err := files.ReadFile(path.Join("sql", f.Name()))
		if err != nil {
			panic(err)
		}
		template.Must(all.New(strings.TrimSuffix(f.Name(), ".sql")).Parse(strings.TrimSpace(string(text))))
	}
	return all
}

// statement gives the text of a statement for a choice.
func statement(name string, c choice) (string, error) { return render(statements, name, c) }

func render(from *template.Template, name string, c choice) (string, error) {
	var out bytes.Buffer
	if err := from.ExecuteTemplate(&out, name, c); err != nil {
		return "", fmt.Errorf("compose %s.sql: %w", name, err)
	}
	return out.String(), nil
}

// withWords adds the parameters of words.
func (c choice) withWords(words []string, p params) choice {
	for i, word := range words {
		p[fmt.Sprintf("word%d", i)] = plain(word)
	}
	c.Words = len(words)
	return c
}

// withAttributes adds the parameters of attributes.
func (c choice) withAttributes(attrs record.Attrs, p params) choice {
	for i, a := range attrs {
		p[fmt.Sprintf("name%d", i)], p[fmt.Sprintf("value%d", i)] = plain(a.Key), plain(a.Value)
	}
	c.Attributes = len(attrs)
	return c
}

// withIdentifiers adds the parameters of identifiers.
func (c choice) withIdentifiers(keys identity.Keys, p params) choice {
	for i, key := range keys {
		at := column{key.Kind}
		p[fmt.Sprintf("identifier%d", i)] = plain(at.value(key.ID))
		c.Identifiers = append(c.Identifiers, at)
	}
	return c
}
