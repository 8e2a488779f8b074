package store

import "sync"

// Topic is a kind of change that somebody may wait for.
type Topic uint8

// Topics.
const (
	Tasks     Topic = iota // a node has a task to claim
	Workflows              // a workflow may have a step to do
	Outbox                 // a message waits for the relay
	Journal                // telemetry waits to be shipped
	topicCount
)

var topicNames = [topicCount]string{Tasks: "tasks", Workflows: "workflows", Outbox: "outbox", Journal: "journal"}

// change is a topic that was touched: for one node, or, where that is empty, for whoever waits.
type change struct {
	topic Topic
	node  string
}

// topics wakes waiters after commits of this process, and of others where a notifier hears of them. It is a
// hint, not a queue: whoever waits looks at the tables again, and does so by a timer as well.
type topics struct {
	mu    sync.Mutex
	wake  [topicCount]chan struct{}
	nodes map[string]chan struct{} // who waits for a task: thousands do, and one is concerned
}

func (t *topics) init() {
	for i := range t.wake {
		t.wake[i] = make(chan struct{})
	}
	t.nodes = map[string]chan struct{}{}
}

func (t *topics) notify(changes []change) {
	if len(changes) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var done [topicCount]bool
	for _, c := range changes {
		if c.topic == Tasks {
			t.notifyNodes(c.node)
		} else if !done[c.topic] {
			done[c.topic] = true
			close(t.wake[c.topic])
			t.wake[c.topic] = make(chan struct{})
		}
	}
}

func (t *topics) notifyNodes(node string) {
	if node == "" {
		for _, waits := range t.nodes {
			close(waits)
		}
		clear(t.nodes)
		return
	}
	if waits, ok := t.nodes[node]; ok {
		close(waits)
		delete(t.nodes, node)
	}
}

// Changed is closed at the next commit that touches the topic. Take it before looking.
func (s *Store) Changed(topic Topic) <-chan struct{} {
	s.topics.mu.Lock()
	defer s.topics.mu.Unlock()
	return s.topics.wake[topic]
}

// TaskFor is closed when there may be a task for the node. Take it before looking.
func (s *Store) TaskFor(node string) <-chan struct{} {
	s.topics.mu.Lock()
	defer s.topics.mu.Unlock()
	waits, ok := s.topics.nodes[node]
	if !ok {
		waits = make(chan struct{})
		s.topics.nodes[node] = waits
	}
	return waits
}

func (t *Tx) touch(topic Topic) { t.touched = append(t.touched, change{topic: topic}) }

func (t *Tx) touchTask(node string) { t.touched = append(t.touched, change{Tasks, node}) }
