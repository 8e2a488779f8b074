// Package table lays text out for people: columns as wide as what stands in them, narrowed to a terminal where there is
// one, words wrapped, and nothing in them that a terminal would take for a command.
//
//	Table ──▶ columns that fit (free text is clipped first, then columns leave by their rank) ──▶ lines
//
// Widths are those of terminal cells: wide characters count two, combining ones none.
package table
