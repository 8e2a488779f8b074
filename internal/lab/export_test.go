package lab

import "context"

// Machines are the machines of a lab that runs.
type Machines struct{ lab *lab }

// OnStart hands over the machines when there are any.
func OnStart(c *Config, f func(*Machines)) { c.started = func(l *lab) { f(&Machines{l}) } }

func (m *Machines) Reimage(ctx context.Context, id string) error {
	return m.lab.machines[id].reimage(ctx)
}

func (m *Machines) Reboot(ctx context.Context, id string) error {
	return m.lab.machines[id].reboot(ctx)
}

func (m *Machines) Crash(ctx context.Context, id string) error {
	return m.lab.machines[id].crash(ctx)
}

// Kill ends the agent of a machine, which is started again at once.
func (m *Machines) Kill(id string) error {
	return m.lab.machines[id].down(func() error { return nil })
}
