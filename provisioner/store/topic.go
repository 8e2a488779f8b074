package store

import (
	"slices"
	"sync"
)

// Topic is a kind of change that somebody may wait for.
type Topic uint8

// Topics.
const (
	Tasks     Topic = iota // a task may be claimed
	Workflows              // a workflow may have a step to do
	Outbox                 // a message waits for the relay
	Journal                // something waits to be told
	topicCount
)

var topicNames = [topicCount]string{Tasks: "tasks", Workflows: "workflows", Outbox: "outbox", Journal: "journal"}

func allTopics() []Topic {
	all := make([]Topic, topicCount)
	for i := range all {
		all[i] = Topic(i)
	}
	return all
}

// topicsOf leaves out names that a later version may have.
func topicsOf(names []string) []Topic {
	var out []Topic
	for topic, name := range topicNames {
		if slices.Contains(names, name) {
			out = append(out, Topic(topic))
		}
	}
	return out
}

// topics wakes waiters after commits of this process, and of others where a waker hears of them. It is a hint, not a queue: whoever waits looks
// at the tables again, and does so by a timer as well.
type topics struct {
	mu   sync.Mutex
	wake [topicCount]chan struct{}
}

func (t *topics) init() {
	for i := range t.wake {
		t.wake[i] = make(chan struct{})
	}
}

func (t *topics) notify(touched []Topic) {
	if len(touched) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var done [topicCount]bool
	for _, topic := range touched {
		if !done[topic] {
			done[topic] = true
			close(t.wake[topic])
			t.wake[topic] = make(chan struct{})
		}
	}
}

// Changed is closed at the next commit that touches the topic. Take it before looking.
func (s *Store) Changed(topic Topic) <-chan struct{} {
	s.topics.mu.Lock()
	defer s.topics.mu.Unlock()
	return s.topics.wake[topic]
}

func (t *Tx) touch(topic Topic) { t.touched = append(t.touched, topic) }
