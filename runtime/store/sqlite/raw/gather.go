package raw

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes the pages of a commit into its log two calls a page, some forty calls a transition, and then
// syncs. This file stands between SQLite and the operating system for logs alone: what is written at
// the end of what was written before is gathered and goes out in one call before anything else is done with the
// file, above all before a sync. Nothing else changes: a commit is on disk when its sync returns, and only then is
// it shown to other connections. That holds with synchronous=FULL, where every commit syncs; the connections of
// this package must not be used with less.

// gathered is how much is written in one call at most. SQLite's layer for Unix takes less than 128 KiB.
const gathered = 124 << 10

// log is an open log and what is not yet written of it.
type log struct {
	file    uintptr
	below   *sqlite3.Tsqlite3_io_methods // SQLite's own
	methods uintptr                      // ours, in memory that is not Go's
	buffer  uintptr
	size    int
	at      int64
}

// logs are the open logs by SQLite's file handle.
var logs = struct {
	sync.Mutex
	open map[uintptr]*log
}{open: map[uintptr]*log{}}

func logOf(file uintptr) *log {
	logs.Lock()
	defer logs.Unlock()
	return logs.open[file]
}

// layer registers SQLite's default file layer with logs gathered, once, and answers its name as a C string; 0,
// which stands for the default, when that fails.
var layer = sync.OnceValue(func() uintptr {
	tls := libc.NewTLS()
	defer tls.Close()
	standard := sqlite3.Xsqlite3_vfs_find(tls, 0)
	own := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	name, err := libc.CString("dwserver")
	if standard == 0 || own == 0 || err != nil {
		return 0
	}
	as := (*sqlite3.Tsqlite3_vfs)(pointer(own))
	*as = *(*sqlite3.Tsqlite3_vfs)(pointer(standard))
	standardOpen = as.FxOpen
	as.FpNext, as.FzName, as.FxOpen = 0, name, function(openFile)
	if sqlite3.Xsqlite3_vfs_register(tls, own, 0) != sqlite3.SQLITE_OK {
		return 0
	}
	return name
})

var standardOpen uintptr // xOpen of the default layer

// function is a package's function as SQLite stores it.
func function(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// The signatures of SQLite's file methods.
type (
	openFn  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	fileFn  = func(tls *libc.TLS, file uintptr) int32
	moveFn  = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	sizeFn  = func(tls *libc.TLS, file uintptr, at int64) int32
	flagFn  = func(tls *libc.TLS, file uintptr, flags int32) int32
	tellsFn = func(tls *libc.TLS, file, size uintptr) int32
)

func call[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

func openFile(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	rc := call[openFn](standardOpen)(tls, vfs, name, file, flags, outFlags)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 {
		return rc
	}
	handle := (*sqlite3.Tsqlite3_file)(pointer(file))
	methods := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if methods == 0 {
		return rc // not gathered
	}
	below := (*sqlite3.Tsqlite3_io_methods)(pointer(handle.FpMethods))
	own := (*sqlite3.Tsqlite3_io_methods)(pointer(methods))
	*own = *below
	own.FxClose, own.FxRead, own.FxWrite = function(closeLog), function(readLog), function(writeLog)
	own.FxTruncate, own.FxSync, own.FxFileSize = function(truncateLog), function(syncLog), function(sizeOfLog)
	handle.FpMethods = methods
	logs.Lock()
	defer logs.Unlock()
	logs.open[file] = &log{file: file, below: below, methods: methods}
	return rc
}

func writeLog(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	l := logOf(file)
	if l.size > 0 && (at != l.at+int64(l.size) || l.size+int(n) > gathered) {
		if rc := l.flush(tls); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if l.buffer == 0 {
		l.buffer = libc.Xmalloc(tls, gathered)
	}
	if l.buffer == 0 || int(n) > gathered {
		return call[moveFn](l.below.FxWrite)(tls, file, data, n, at)
	}
	if l.size == 0 {
		l.at = at
	}
	copy(memory(l.buffer+uintptr(l.size), int(n)), memory(data, int(n)))
	l.size += int(n)
	return sqlite3.SQLITE_OK
}

// flush writes what is gathered. What fails is as if its own write had failed: it is not tried again.
func (l *log) flush(tls *libc.TLS) int32 {
	if l.size == 0 {
		return sqlite3.SQLITE_OK
	}
	n := l.size
	l.size = 0
	return call[moveFn](l.below.FxWrite)(tls, l.file, l.buffer, int32(n), l.at)
}

func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	l := logOf(file)
	if rc := l.flush(tls); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[flagFn](l.below.FxSync)(tls, file, flags)
}

func readLog(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	l := logOf(file)
	if rc := l.flush(tls); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[moveFn](l.below.FxRead)(tls, file, data, n, at)
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	l := logOf(file)
	if rc := l.flush(tls); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[sizeFn](l.below.FxTruncate)(tls, file, size)
}

func sizeOfLog(tls *libc.TLS, file, size uintptr) int32 {
	l := logOf(file)
	if rc := l.flush(tls); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[tellsFn](l.below.FxFileSize)(tls, file, size)
}

func closeLog(tls *libc.TLS, file uintptr) int32 {
	l := logOf(file)
	flushed := l.flush(tls)
	rc := call[fileFn](l.below.FxClose)(tls, file)
	logs.Lock()
	delete(logs.open, file)
	logs.Unlock()
	libc.Xfree(tls, l.buffer)
	libc.Xfree(tls, l.methods)
	if rc == sqlite3.SQLITE_OK {
		rc = flushed
	}
	return rc
}
