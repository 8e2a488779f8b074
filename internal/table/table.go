package table

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// gap is how many blanks stand between columns, and least how narrow a column of free text may become before others leave.
const (
	gap   = 2
	least = 16
	tiny  = 8
)

// Column is one column of a table.
type Column struct {
	Name string
	// Wide columns are shown only where all are asked for.
	Wide bool
	// Free text is clipped first.
	Free bool
	// Rank says in which order columns leave a terminal that is too narrow, the highest first; those of rank 0 stay.
	Rank int
	// Right-aligned.
	Right bool
	// Ages change with the clock alone: no news.
	Ages bool
}

// Cell is a text in a column.
type Cell struct {
	Text  string
	Style Style
}

// Table holds rows until they are written. Written again, it goes on below with columns at least as wide, so that a long
// answer can come page by page.
type Table struct {
	Columns []Column
	rows    []row
	widths  []int
	headed  bool
}

// row is a line of cells, or a line across all columns.
type row struct {
	cells  []Cell
	across string
}

// Format is how a table is written.
type Format struct {
	Width  int  // cells of a line; 0 is unlimited
	Wide   bool // every column, nothing clipped
	Colour bool
}

// Add appends a row, one cell a column. An empty cell is shown as "-".
func (t *Table) Add(cells ...Cell) {
	for i := range cells {
		if cells[i].Text = Clean(cells[i].Text); cells[i].Text == "" {
			cells[i].Text = "-"
		}
	}
	t.rows = append(t.rows, row{cells: cells})
}

// Across appends a line that is no row: a day, a pause.
func (t *Table) Across(text string) { t.rows = append(t.rows, row{across: Clean(text)}) }

// Rows gives the cells of what has not been written yet.
func (t *Table) Rows() [][]Cell {
	var out [][]Cell
	for _, r := range t.rows {
		if r.cells != nil {
			out = append(out, r.cells)
		}
	}
	return out
}

// Write writes the rows that were added since the last time, below their heading the first time. Without rows nothing is
// written, not even the heading.
func (t *Table) Write(w io.Writer, f Format) error {
	if len(t.rows) == 0 {
		return nil
	}
	shown := t.fit(f)
	out := bufio.NewWriter(w)
	if !t.headed {
		heading := make([]Cell, len(t.Columns))
		for i, c := range t.Columns {
			heading[i] = Cell{c.Name, Strong}
		}
		t.line(out, heading, shown, f)
		t.headed = true
	}
	for _, r := range t.rows {
		if r.cells == nil {
			text := r.across
			if f.Width > 0 && !f.Wide {
				text = Clip(text, f.Width)
			}
			_, _ = out.WriteString(Paint(text, Faint, f.Colour) + "\n")
			continue
		}
		t.line(out, r.cells, shown, f)
	}
	t.rows = nil
	return out.Flush()
}

func (t *Table) line(out *bufio.Writer, cells []Cell, shown []column, f Format) {
	var b strings.Builder
	blanks := 0
	for i, c := range shown {
		text := cells[c.at].Text
		if Width(text) > c.width {
			text = Clip(text, c.width)
		}
		pad := c.width - Width(text)
		if c.Right {
			blanks, pad = blanks+pad, 0
		}
		b.WriteString(strings.Repeat(" ", blanks))
		b.WriteString(Paint(text, cells[c.at].Style, f.Colour))
		if blanks = pad + gap; i == len(shown)-1 {
			break // nothing follows: no blanks at the end of lines
		}
	}
	_, _ = out.WriteString(b.String() + "\n")
}

// column is a column that is shown, and how wide.
type column struct {
	Column
	at, width int
}

// fit chooses the columns and their widths. Free text gives way first, down to a width at which it still says something;
// then columns leave, by rank; then free text gives way further. What stays after that is wider than the terminal, as a
// clipped identifier is none.
func (t *Table) fit(f Format) []column {
	if t.widths == nil {
		t.widths = make([]int, len(t.Columns))
		for i, c := range t.Columns {
			t.widths[i] = Width(c.Name)
		}
	}
	var shown []column
	for i, c := range t.Columns {
		for _, r := range t.rows {
			if r.cells != nil {
				t.widths[i] = max(t.widths[i], Width(r.cells[i].Text))
			}
		}
		if !c.Wide || f.Wide {
			shown = append(shown, column{c, i, t.widths[i]})
		}
	}
	if f.Width <= 0 || f.Wide {
		return shown
	}
	for narrow(shown, f.Width, least) > 0 {
		leaving := -1
		for i, c := range shown {
			if c.Rank > 0 && (leaving < 0 || c.Rank >= shown[leaving].Rank) {
				leaving = i
			}
		}
		if leaving < 0 {
			narrow(shown, f.Width, tiny)
			break
		}
		shown = slices.Delete(shown, leaving, leaving+1)
		for i := range shown {
			shown[i].width = t.widths[shown[i].at]
		}
	}
	return shown
}

// narrow takes from columns of free text what is too much for a width, down to least, the widest first, and gives what is
// still too much.
func narrow(shown []column, width, least int) int {
	excess := -gap - width
	for _, c := range shown {
		excess += c.width + gap
	}
	for excess > 0 {
		widest := -1
		for i, c := range shown {
			if c.Free && c.width > max(least, Width(c.Name)) && (widest < 0 || c.width > shown[widest].width) {
				widest = i
			}
		}
		if widest < 0 {
			return excess
		}
		shown[widest].width--
		excess--
	}
	return 0
}
