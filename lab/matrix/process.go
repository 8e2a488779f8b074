package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// find gives the process whose command line holds all of these words; 0 where there is none. Every one that a rig starts holds
// its folder.
func find(words ...string) int {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // nothing but a bad pattern is an error
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		all := true
		for _, w := range words {
			all = all && bytes.Contains(text, []byte(w))
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && all && pid != os.Getpid() {
			return pid
		}
	}
	return 0
}

// child gives the process that another one has started and whose command line holds a word.
func child(parent int, word string) int {
	lines, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(text), ") ") // the name may hold anything
		fields := strings.Fields(after)
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if pid, e := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && e == nil && bytes.Contains(line, []byte(word)) {
			return pid
		}
	}
	return 0
}

// interrupt freezes a process, or kills it whenever it is there, until the end.
func interrupt(how string, pid func() int) (end func() error, err error) {
	first := pid()
	if first == 0 {
		return nil, errors.New("the process is not there")
	}
	if how == freeze {
		if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
			return nil, fmt.Errorf("stop process %d: %w", first, err)
		}
		return func() error { return syscall.Kill(first, syscall.SIGCONT) }, nil
	}
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			if one := pid(); one != 0 {
				_ = syscall.Kill(one, syscall.SIGKILL) // it may have ended
			}
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return func() error { close(stop); work.Wait(); return nil }, nil
}
