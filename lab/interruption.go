package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Interruption is a part of the lab that does nothing for a while, as if somebody had stopped or killed its process.
type Interruption struct {
	Part string `json:"part"` // of Interruptible
	How  string `json:"how"`  // Freeze or Kill
}

// Ways to interrupt.
const (
	Freeze = "freeze" // SIGSTOP: connections are taken and never answered, and no telemetry comes
	Kill   = "kill"   // SIGKILL, and nobody starts it again: connections are refused
)

// interruptible is a part with what interrupts it, by way; what is returned ends that.
type interruptible map[string]func() (resume func() error, err error)

// Interruptible are the parts that Interrupt takes.
var Interruptible = []string{"ingress", "api", "auth", "agent"}

// parts are those of this lab.
func (l *lab) parts() map[string]interruptible {
	process := func(all ...*toggleListener) interruptible {
		each := func(do func(*toggleListener) error) error {
			var errs []error
			for _, t := range all {
				errs = append(errs, do(t))
			}
			return errors.Join(errs...)
		}
		return interruptible{
			Freeze: func() (func() error, error) {
				return func() error { return each((*toggleListener).thaw) }, each((*toggleListener).freeze)
			},
			Kill: func() (func() error, error) {
				return func() error { return each((*toggleListener).reopen) }, each((*toggleListener).shut)
			},
		}
	}
	node := l.states[l.specs[0].id] // the one that is most used
	return map[string]interruptible{
		"ingress": process(l.listeners.ingress...), "api": process(l.listeners.api), "auth": process(l.listeners.auth),
		"agent": {
			Freeze: func() (func() error, error) {
				node.gate.freeze()
				return func() error { node.gate.thaw(); return nil }, nil
			},
			Kill: func() (func() error, error) {
				node.change(func(n *nodeState) { n.stopped = true })
				return node.undo(func(n *nodeState) { n.stopped = false }), nil
			},
		},
	}
}

// Interrupt interrupts a part until Resume.
func (l *lab) Interrupt(i Interruption) error {
	part, ok := l.parts()[i.Part]
	if !ok {
		return fmt.Errorf("no part is called %q; they are %s", i.Part, strings.Join(Interruptible, ", "))
	}
	do, ok := part[i.How]
	if !ok {
		return fmt.Errorf("%q is no way to interrupt %s; it is %s or %s", i.How, i.Part, Freeze, Kill)
	}
	l.injecting.Lock()
	defer l.injecting.Unlock()
	resume, err := do()
	if err != nil {
		return fmt.Errorf("%s %s: %w", i.How, i.Part, err)
	}
	l.interrupted = append(l.interrupted, resume)
	l.log.Info("part interrupted", "part", i.Part, "how", i.How)
	return nil
}

// Resume ends all interruptions.
func (l *lab) Resume() error {
	l.injecting.Lock()
	defer l.injecting.Unlock()
	var errs []error
	for _, resume := range slices.Backward(l.interrupted) {
		errs = append(errs, resume())
	}
	if len(l.interrupted) > 0 {
		l.log.Info("parts go on")
	}
	l.interrupted = nil
	return errors.Join(errs...)
}
