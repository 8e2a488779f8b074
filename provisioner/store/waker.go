package store

// waker carries the news of a commit to the other processes on the same database. Like the topics that
// it carries it is a hint: who misses one looks again by a timer.
type waker interface {
	tell(touched []change)
	close()
}
