// Package budget decides, for all commands and mounts, how much memory the process uses, how often
// Go looks for garbage, and how many threads run. Nothing else turns these knobs, which belong to
// the process as a whole; a rule of golangci-lint says so. The others say what work begins, and
// here is what it needs:
//
//	                     memory limit               garbage, in % of what is used
//	any other command    none                       100, as Go has it
//	Mount                cache + 92 MiB             100
//	Save, in a mount     540 MiB, or more for       100
//	                     a large file
//	WholeFiles           540 MiB, likewise          30
//	ExportSheets         cache + 208 MiB            100
//	Remote               240 MiB                    100
//	DecodeSession        none                       800
//
// A memory limit does not bound what is used. It has Go look for garbage when the memory grows to
// it, and so bounds the garbage: by itself Go lets the memory grow to twice what is used. A limit
// below what is used has Go look without end, at twice the processor time. That is why a save has
// a limit of its own, above that of its mount, and why it grows with the file.
//
// A user who sets GOMEMLIMIT wants no more than that, so no limit is above it.
//
// The threads are as many as there are cores, or GOMAXPROCS says, and 4 more while a mount does
// long work; see package cores. Code that divides work asks cores.Count, which doesn't change.
package budget

import (
	"math"
	"runtime/debug"
	"sync"
	"time"

	"lorefs/internal/cores"
)

const (
	// mountMemory is what a mount needs besides its cache: for names, the index, the inodes that
	// the kernel knows, and requests.
	mountMemory = 92 << 20
	// sheetsMemory is what an export of a data center needs besides its cache: for the index and
	// the texts that its writers keep. Without a limit, what opening the file has left would stay,
	// and as much come in addition.
	sheetsMemory = 208 << 20
	// remoteMemory is for copies from other machines. As much comes at a time as all the rest
	// needs, so the usual pace would let the memory grow to twice that.
	remoteMemory = 240 << 20
	// wholeMemory is for the new file, inflated, and where each part of it went, while a file is
	// packed, read back or compared as a whole: up to 470 MiB for the largest one known, which has
	// inflatedKnown bytes. A larger one gets wholeOf bytes more for each byte.
	wholeMemory   = 540 << 20
	inflatedKnown = 260_000_000
	wholeOf       = 2
	// WholeCache is the most bytes of the cache of decoded blocks meanwhile. A whole file is read
	// once or twice, so more blocks would only take memory from it.
	WholeCache = 64 << 20

	// wholeGarbage is for a command whose large memory has hardly any pointers, so that looking
	// for garbage costs little. A save in a mount keeps Go's pace: the inodes that the kernel
	// knows have pointers.
	wholeGarbage = 30
	// decodeGarbage is for sessions, where hardly any garbage comes about but while definitions
	// are read. To look for it at each few MB takes a fifth of the time of a short session. With
	// this share Go looks first at 32 MB, which a session of 200,000 packets does not reach.
	decodeGarbage = 800

	// spareThreads lets requests run at once while all cores are busy with a save, or with reading
	// ahead.
	spareThreads = 4
	// freeAfter is how long a new mount keeps memory that it does not need. The first pass leaves
	// much garbage. What lists the mount right then needs memory, and finds it there.
	freeAfter = time.Second
)

// most is the limit that the user has set by GOMEMLIMIT, or math.MaxInt64.
var most = debug.SetMemoryLimit(-1) // asks for it

// limit sets the memory limit, until end is called.
func limit(memory int64) (end func()) {
	before := debug.SetMemoryLimit(min(memory, most))
	return sync.OnceFunc(func() { debug.SetMemoryLimit(before) })
}

// Mount begins the work of a process that serves a mount with a cache of so many bytes.
func Mount(cache int64) {
	limit(cache + mountMemory)
	cores.Spare(spareThreads)
}

// Served gives back, a little later, what opening the source of a mount has used.
func Served() { time.AfterFunc(freeAfter, Free) }

// Free gives memory back that isn't used.
func Free() { debug.FreeOSMemory() }

// Save begins a save in a mount, of a file that has so many bytes when it is inflated, or 0 if it is
// not written as a whole.
func Save(inflated int64) (end func()) { return limit(wholeFile(inflated)) }

// WholeFiles begins the work of a command that packs, reads back or compares whole files. inflated
// is the size of a file that is written, or 0.
func WholeFiles(inflated int64) (end func()) {
	unlimited, garbage := limit(wholeFile(inflated)), debug.SetGCPercent(wholeGarbage)
	return sync.OnceFunc(func() {
		debug.SetGCPercent(garbage)
		unlimited()
	})
}

// wholeFile returns the memory limit while a file is written as a whole.
func wholeFile(inflated int64) int64 {
	more := max(inflated-inflatedKnown, 0)
	if more > (math.MaxInt64-wholeMemory)/wholeOf {
		return math.MaxInt64
	}
	return wholeMemory + wholeOf*more
}

// ExportSheets begins the export of a data center with a cache of so many bytes.
func ExportSheets(cache int64) { limit(cache + sheetsMemory) }

// Remote begins a copy of files that lie on other machines.
func Remote() { limit(remoteMemory) }

// DecodeSession begins to decode a recorded session.
func DecodeSession() { debug.SetGCPercent(decodeGarbage) }
