package table

// Style is how a cell is told apart where a terminal has colours. Nothing is said by colour alone.
type Style int

// The styles.
const (
	Plain Style = iota
	Strong
	Faint
	Good
	Caution
	Bad
)

var codes = [...]string{Plain: "", Strong: "\x1b[1m", Faint: "\x1b[2m", Good: "\x1b[32m", Caution: "\x1b[33m", Bad: "\x1b[31m"}

// Paint puts a style around a text that is clean already, where colour is on.
func Paint(s string, style Style, colour bool) string {
	if !colour || style == Plain || s == "" {
		return s
	}
	return codes[style] + s + "\x1b[0m"
}
