package chdb

import (
	"syscall"
	"unsafe"
)

// guarded are the signals whose handlers the Go runtime needs: with the engine's own in place a nil dereference that Go
// would turn into a panic hangs the process, and preemption (SIGURG) stops working.
func guarded() []syscall.Signal {
	return []syscall.Signal{
		syscall.SIGILL, syscall.SIGABRT, syscall.SIGFPE, syscall.SIGBUS, syscall.SIGSEGV, syscall.SIGTRAP,
		syscall.SIGURG, syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP,
		syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	}
}

// sigactionSize is sizeof(struct sigaction) of glibc on x86-64.
const sigactionSize = 152

type handlers map[syscall.Signal]*[sigactionSize]byte

// handlers records what is installed now.
func (l *Library) handlers() handlers {
	h := handlers{}
	for _, s := range guarded() {
		b := new([sigactionSize]byte)
		if l.sigaction(int32(s), nil, unsafe.Pointer(b)) == 0 {
			h[s] = b
		}
	}
	return h
}

// restore puts back what handlers recorded.
func (l *Library) restore(h handlers) {
	for s, b := range h {
		l.sigaction(int32(s), unsafe.Pointer(b), nil)
	}
}
