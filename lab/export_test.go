package lab

import "context"

// Nodes are the nodes of a lab that runs.
type Nodes struct{ lab *lab }

// OnStart hands over the nodes when there are any.
func OnStart(c *Config, f func(*Nodes)) { c.started = func(l *lab) { f(&Nodes{l}) } }

func (m *Nodes) Reimage(ctx context.Context, id string) error {
	return m.lab.nodes[id].reimage(ctx)
}

func (m *Nodes) Reboot(ctx context.Context, id string) error {
	return m.lab.nodes[id].reboot(ctx)
}

func (m *Nodes) Crash(ctx context.Context, id string) error {
	return m.lab.nodes[id].crash(ctx)
}

// Kill ends the agent of a node, which is started again at once.
func (m *Nodes) Kill(id string) error {
	return m.lab.nodes[id].down(func() error { return nil })
}
