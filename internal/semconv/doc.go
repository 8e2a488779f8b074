// Package semconv holds the names that every part of Faultline agrees on: identifier keys, attribute
// keys, lifecycle event names and their values. It is the one place where they are spelled; it imports
// nothing and everything may import it.
package semconv
