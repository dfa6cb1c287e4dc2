package savetest

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"lorefs/internal/disk/disktest"
)

// fault returns the error of an operation that is made to fail.
func fault(op disktest.Op) error {
	return fmt.Errorf("%w: %s %s: %w", disktest.ErrFault, op.Name, op.Path, syscall.ENOSPC)
}

// Guarded returns a hook that is called by one goroutine at a time. A session writes in the
// background too: it counts edits and syncs its journal.
func Guarded(hook func(op disktest.Op) error) func(op disktest.Op) error {
	var mu sync.Mutex
	return func(op disktest.Op) error {
		mu.Lock()
		defer mu.Unlock()
		return hook(op)
	}
}

// OfBase reports whether an operation is one on the copy that is kept of what is edited. The copy is
// synced in the background, so that may be at any moment of a save.
func OfBase(op disktest.Op) bool { return strings.Contains(op.Path, ".base") }

// Failing returns a disk on which one operation fails the given number of times: "create",
// "resume", "sync" or "remove" of a journal, "append K" of a record of kind K, or "sync folder" of
// the source.
func Failing(what string, times int) *disktest.Disk {
	d := disktest.New()
	d.SetBefore(Guarded(func(op disktest.Op) error {
		if what != journalOp(op) || times == 0 {
			return nil
		}
		times--
		return fault(op)
	}))
	return d
}

// journalOp returns the name that Failing has for an operation.
func journalOp(op disktest.Op) string {
	const kindOff = 12 // in a record
	isJournal := strings.HasSuffix(op.Path, ".journal")
	switch {
	case op.Name == "create" && strings.Contains(op.Path, ".journal."):
		return "create"
	case op.Name == "write" && isJournal && len(op.Data) > kindOff:
		return "append " + string(op.Data[kindOff:kindOff+1])
	case op.Name == "open" && isJournal:
		return "resume"
	case (op.Name == "sync" || op.Name == "remove") && isJournal:
		return op.Name
	case op.Name == "syncDir" && !strings.HasSuffix(op.Path, "journal"):
		return "sync folder"
	}
	return ""
}

// Unsynced returns a disk on which, after a new file was put in place at path, syncing the folder
// fails the given number of times.
func Unsynced(path string, times int) *disktest.Disk {
	d := disktest.New()
	d.SetBefore(unsynced(path, times))
	return d
}

func unsynced(path string, times int) func(op disktest.Op) error {
	placed := false
	return Guarded(func(op disktest.Op) error {
		switch {
		case op.Path == path && (op.Name == "exchange" || op.Name == "rename" || op.Name == "link"):
			placed = true
		case op.Name == "syncDir" && op.Path == filepath.Dir(path) && placed && times > 0:
			placed = false
			times--
			return fault(op)
		}
		return nil
	})
}

// Faults returns hooks for [disktest.Disk], by name, each of which makes a save fail once: in the
// middle of its work, when the old file is kept, when the new file is put in place at path, and at
// the end, when the folder is synced.
func Faults(path string) map[string]func(op disktest.Op) error {
	once := func(is func(op disktest.Op) bool) func(op disktest.Op) error {
		met := false
		return Guarded(func(op disktest.Op) error {
			if met || !is(op) {
				return nil
			}
			met = true
			return fault(op)
		})
	}
	return map[string]func(op disktest.Op) error{
		"sync": once(func(op disktest.Op) bool { return op.Name == "sync" && strings.Contains(op.Path, ".lorefs-") }),
		"keep": once(func(op disktest.Op) bool { return op.Name == "rename" && op.Path == path+".bak" }),
		"place": func() func(op disktest.Op) error {
			left := 2 // if the exchange fails, the new file is renamed
			return Guarded(func(op disktest.Op) error {
				if op.Path != path || left == 0 || op.Name != "exchange" && op.Name != "rename" {
					return nil
				}
				left--
				return fault(op)
			})
		}(),
		"sync folder": unsynced(path, 1),
	}
}
