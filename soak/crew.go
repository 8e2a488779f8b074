package soak

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// crew is the nodes at work, by name; one can be sent away and another instance of it put to work.
type crew struct {
	work  *Work
	group *errgroup.Group

	mu     sync.Mutex
	leaves map[string]func() // ends a node and waits for it
}

func newCrew(group *errgroup.Group, work *Work) *crew {
	return &crew{work: work, group: group, leaves: map[string]func(){}}
}

// employ puts a node to work until ctx ends or it is sent away.
func (c *crew) employ(ctx context.Context, m remote) {
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaves[m.node] = func() { cancel(); <-gone }
	c.group.Go(func() error {
		defer close(gone)
		defer cancel()
		runNode(ctx, renewing{m, c.work}, c.work)
		return nil
	})
}

// dismiss ends a node, wherever it is in its work.
func (c *crew) dismiss(node string) {
	c.mu.Lock()
	leave := c.leaves[node]
	c.mu.Unlock()
	leave()
}
