package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// program is a process of the product.
type program struct {
	name   string
	parent int           // its process id
	rss    int64         // bytes
	cpu    time.Duration // user and system
}

// clockTicks a second is what Linux tells every process on every computer of today.
const clockTicks = 100

// programsRunning are the processes that our own `faultline up` has started.
func programsRunning() []program {
	all := map[int]program{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		id, _ := strconv.Atoi(filepath.Base(folder))
		if p, ok := readProgram(folder); ok {
			all[id] = p
		}
	}
	var out []program
	for _, p := range all {
		if up, ok := all[p.parent]; ok && up.parent == os.Getpid() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b program) int { return strings.Compare(a.name, b.name) })
	return out
}

// readProgram reads one process from its folder in /proc.
func readProgram(folder string) (program, bool) {
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	_, after, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(after)
	if err != nil || len(f) < 22 {
		return program{}, false
	}
	line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
	args := strings.Split(string(line), "\x00")
	name := filepath.Base(args[0])
	if name == "faultline" && len(args) > 1 {
		name += " " + args[1]
	}
	parent, _ := strconv.Atoi(f[1])
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	pages, _ := strconv.ParseInt(f[21], 10, 64)
	return program{name, parent, pages * int64(os.Getpagesize()), time.Duration(user+system) * time.Second / clockTicks}, true
}
