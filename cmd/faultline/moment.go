package main

import (
	"fmt"
	"time"
)

// moment is a flag that takes a time, or how long ago it was.
type moment struct{ at string }

// Set reads RFC 3339, or a duration back from now.
func (m *moment) Set(text string) error {
	if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
		m.at = text
		return nil
	}
	ago, err := time.ParseDuration(text)
	if err != nil || ago < 0 {
		return fmt.Errorf("%q is neither an RFC 3339 time, such as 2026-03-02T10:04:11Z, nor how long ago, such as 90m", text)
	}
	m.at = time.Now().Add(-ago).UTC().Format(time.RFC3339Nano)
	return nil
}

// String is the time, "" where none was given.
func (m *moment) String() string { return m.at }

// time is the time for a request, nil where none was given.
func (m *moment) time() *time.Time {
	at, err := time.Parse(time.RFC3339Nano, m.at)
	if err != nil {
		return nil
	}
	return &at
}

// Type is what the help calls it.
func (m *moment) Type() string { return "time" }
