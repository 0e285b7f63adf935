package raw

import (
	"modernc.org/libc"
	"modernc.org/libc/sys/types"
)

// arena holds what a statement's parameters are bound to, outside Go's heap: SQLite keeps the addresses
// until the statement is bound again. One allocation serves all values of a connection's statements.
type arena struct {
	tls   *libc.TLS
	block uintptr
	size  int
	used  int
	full  []uintptr // earlier blocks of the running statement
}

const (
	arenaMin  = 4 << 10
	arenaKeep = 64 << 10 // a larger block is given back
)

// put copies v to the arena and returns its address, 0 when there is no memory.
func put[T string | []byte](a *arena, v T) uintptr {
	if a.used+len(v) > a.size || a.block == 0 {
		if !a.grow(len(v)) {
			return 0
		}
	}
	p := a.block + uintptr(a.used)
	copy(memory(p, len(v)), v)
	a.used += (len(v) + 7) &^ 7
	return p
}

func (a *arena) grow(n int) bool {
	size := max(arenaMin, 2*a.size, n+8)
	block := libc.Xmalloc(a.tls, types.Size_t(size))
	if block == 0 {
		return false
	}
	if a.block != 0 {
		a.full = append(a.full, a.block)
	}
	a.block, a.size, a.used = block, size, 0
	return true
}

// reset gives back what the values took.
func (a *arena) reset() {
	a.used = 0
	if len(a.full) > 0 {
		for _, p := range a.full {
			libc.Xfree(a.tls, p)
		}
		a.full = a.full[:0]
	}
	if a.size > arenaKeep {
		a.free()
	}
}

func (a *arena) free() {
	for _, p := range append(a.full, a.block) {
		libc.Xfree(a.tls, p)
	}
	*a = arena{tls: a.tls}
}
