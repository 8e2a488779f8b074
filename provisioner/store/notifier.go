package store

// notifier tells the other processes on the same database that a commit has touched topics. A notification is a
// hint: a process that misses one looks at the tables again by a timer.
type notifier interface {
	notify(touched []change)
	close()
}
