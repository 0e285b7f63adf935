package usage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is the unit of /proc's CPU times. It is 100 on every Linux that Go runs on.
const ticks = 100

// Of reads a process and, when tree is set, its children and those that have ended: a database server that
// has a process per connection. Errors: the process is not there, or its files do not have the known form.
func Of(pid int, tree bool) (Process, error) {
	p, _, err := one(pid, tree)
	if err != nil || !tree {
		return p, err
	}
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return p, err
	}
	for _, file := range all {
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return p, err
		}
		child, parent, err := one(id, false)
		if err != nil || parent != pid {
			continue // it ended meanwhile, or is somebody else's
		}
		p.CPU += child.CPU
	}
	p.RSS = 0 // the processes share most of it, so that their sum would say nothing
	return p, nil
}

// Self is the CPU time of this process.
func Self() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func one(pid int, ended bool) (p Process, parent int, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return p, 0, err
	}
	_, rest, ok := bytes.Cut(stat, []byte(") ")) // the name may hold anything
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 22 {
		return p, 0, fmt.Errorf("%sstat: %q", dir, stat)
	}
	number := func(i int) int64 {
		n, e := strconv.ParseInt(fields[i], 10, 64)
		if e != nil {
			err = e
		}
		return n
	}
	parent = int(number(1))
	spent := number(11) + number(12)
	if ended {
		spent += number(13) + number(14)
	}
	p.CPU = time.Duration(spent) * time.Second / ticks
	p.RSS = number(21) * int64(os.Getpagesize())
	return p, parent, err
}

// Parent is the process that started another; 0 when that is not here.
func Parent(pid int) int {
	_, parent, err := one(pid, false)
	if err != nil {
		return 0
	}
	return parent
}
