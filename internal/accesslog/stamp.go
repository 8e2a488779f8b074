package accesslog

import (
	"strings"
	"time"
)

const (
	// stampBytes is the length of 31/Mar/2021:12:04:07.
	stampBytes = 20
	// headBytes is how far into a line its time may stand: behind a syslog header, a virtual host, a
	// client's name and a user's.
	headBytes = 1024
	months    = "JanFebMarAprMayJunJulAugSepOctNovDec"
)

// findStamp is the offset of the first bracketed time of the common log format, without its bracket, -1
// where there is none. At least one byte follows the stamp.
func findStamp(line string) int {
	head := line[:min(len(line), headBytes)]
	for at := 0; ; {
		i := strings.IndexByte(head[at:], '[')
		if i < 0 {
			return -1
		}
		at += i + 1
		if len(line)-at <= stampBytes {
			return -1
		}
		if s := line[at:]; s[2] == '/' && s[6] == '/' && s[11] == ':' && s[14] == ':' && s[17] == ':' {
			return at
		}
	}
}

// stamp reads 31/Mar/2021:12:04:07 and what follows up to the bracket: .633 or +0000.
func stamp(s string) (time.Time, bool) {
	if len(s) < stampBytes {
		return time.Time{}, false
	}
	month := strings.Index(months, s[3:6])
	if month < 0 || month%3 != 0 {
		return time.Time{}, false
	}
	t, ok := moment(s[7:11], month/3+1, s[0:2], s[12:14], s[15:17], s[18:20])
	if !ok {
		return time.Time{}, false
	}
	switch rest := s[stampBytes:]; {
	case rest == "":
		return t, true
	case rest[0] == '.':
		ms, ok := number(rest[1:])
		if !ok || len(rest) != 4 {
			return time.Time{}, false
		}
		return t.Add(time.Duration(ms) * time.Millisecond), true
	case len(rest) == 6 && rest[0] == ' ' && (rest[1] == '+' || rest[1] == '-'):
		h, hok := number(rest[2:4])
		m, mok := number(rest[4:6])
		if !hok || !mok {
			return time.Time{}, false
		}
		east := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
		if rest[1] == '-' {
			east = -east
		}
		return t.Add(-east), true
	}
	return time.Time{}, false
}

// moment is a time in UTC of the digits that a log line spells.
func moment(year string, month int, day, hour, minute, second string) (time.Time, bool) {
	y, ok1 := number(year)
	d, ok2 := number(day)
	h, ok3 := number(hour)
	m, ok4 := number(minute)
	s, ok5 := number(second)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || month < 1 || month > 12 || d < 1 || d > 31 || h > 23 || m > 59 || s > 60 {
		return time.Time{}, false
	}
	return time.Date(y, time.Month(month), d, h, m, s, 0, time.UTC), true
}

// number reads up to nine decimal digits and nothing else.
func number(s string) (int, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// digits says whether s is a count of any length.
func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// seconds reads 0.050 as nginx writes it; - and anything else is 0.
func seconds(s string) time.Duration {
	whole, part, _ := strings.Cut(s, ".")
	w, ok := number(whole)
	if !ok {
		return 0
	}
	d := time.Duration(w) * time.Second
	unit := time.Second
	for i := 0; i < len(part) && unit > 1; i++ {
		if part[i] < '0' || part[i] > '9' {
			return 0
		}
		unit /= 10
		d += time.Duration(part[i]-'0') * unit
	}
	return d
}

// millis reads a count of milliseconds; - and -1, and anything else, are 0.
func millis(s string) time.Duration {
	n, ok := number(s)
	if !ok {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
