// Package filelock locks a file for one process: the kernel drops the lock when its holder dies, however it dies.
package filelock

import "errors"

// errHeld says that another process (or another Lock of this one) has it.
var errHeld = errors.New("held by another process")
