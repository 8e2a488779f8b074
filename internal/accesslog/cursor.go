package accesslog

import "strings"

// cursor walks over the fields of a line. Every step skips the blanks before its field and says
// whether the field was there.
type cursor struct{ rest string }

func (c *cursor) skip() { c.rest = strings.TrimLeft(c.rest, " ") }

// token is the text up to the next blank.
func (c *cursor) token() (string, bool) {
	c.skip()
	i := strings.IndexByte(c.rest, ' ')
	if i < 0 {
		i = len(c.rest)
	}
	t := c.rest[:i]
	c.rest = c.rest[i:]
	return t, t != ""
}

// quoted is the text between two quotes, of which the second is not escaped by a backslash. It is
// handed out as written, escapes and all.
func (c *cursor) quoted() (string, bool) {
	c.skip()
	if c.rest == "" || c.rest[0] != '"' {
		return "", false
	}
	for i := 1; i < len(c.rest); i++ {
		switch c.rest[i] {
		case '\\':
			i++
		case '"':
			q := c.rest[1:i]
			c.rest = c.rest[i+1:]
			return q, true
		}
	}
	return "", false
}

// enclosed is the text between two different marks, such as [ and ].
func (c *cursor) enclosed(from, to byte) (string, bool) {
	c.skip()
	if c.rest == "" || c.rest[0] != from {
		return "", false
	}
	i := strings.IndexByte(c.rest, to)
	if i < 0 {
		return "", false
	}
	t := c.rest[1:i]
	c.rest = c.rest[i+1:]
	return t, true
}

// last is the last item of nginx's lists: one item a try, "a, b", and " : " where an internal
// redirect began to try anew.
func (c *cursor) last() (string, bool) {
	for {
		t, ok := c.token()
		if !ok {
			return "", false
		}
		if t[len(t)-1] == ',' {
			continue
		}
		if strings.HasPrefix(c.rest, " : ") {
			c.rest = c.rest[3:]
			continue
		}
		return t, true
	}
}

// plain is a field's value, "" for the - that stands for none.
func plain(s string) string {
	if s == "-" {
		return ""
	}
	return s
}
