// Package fs shows a [nodes.Tree] as a FUSE mount. It is the only package of
// lorefs that imports go-fuse.
//
// # How it works
//
// [Mount] puts go-fuse's node API (package fs of go-fuse, imported as fusefs)
// over the tree: one small node type, whose inode number and kernel node ID are
// the tree's own [nodes.ID]. In front of it stands a thin layer (front.go) that
// counts requests and answers directory listings without a handle, straight
// from the tree's cursors.
//
// # Speed is the number of requests
//
// A round trip to a FUSE server costs 10 to 50 µs, a hundred times what the work
// behind it costs, so everything here is about requests that are not sent:
//
//   - attributes, names and misses are good for a day, and so is what was read;
//   - open, opendir, flush and access are answered ENOSYS once, after which the
//     kernel never asks again: a node and an offset are enough to read anything;
//   - a listing hands over the attributes of all entries (READDIRPLUS), and the
//     kernel keeps it;
//   - small files are pushed into the kernel's page cache while somebody is
//     reading his way through directories (prime.go);
//   - a tree without extended attributes says so once.
//
// A second walk over a tree then sends nothing at all.
//
// # Changes
//
// With [Options.ReadWrite] the tree is a [nodes.Mutable]. Only what changes
// something costs more then: OPEN is sent for each open(2), and the kernel asks once
// for the attributes of what was read. Everything else stays cached for a day, for
// there are two sources of changes, and both are known:
//
//   - what comes through the mount the kernel sees itself. It drops what it holds of
//     the directory or the file, and ignores answers that were under way meanwhile;
//   - what the tree changes by itself it tells, and a goroutine takes that out of the
//     kernel's caches (notices.go). Closing a file waits for that.
//
// What neither covers are answers about inodes that the kernel does not know yet:
// those are good for once if anything changed while they were made (edits.go). Only
// names that are not there are asked for each time.
//
// A value that does not fit is told to whoever writes or closes the file, and
// remembered with its path in [Stats.LastErrors], for many programs do not look.
//
// # Mounts that do not answer
//
// A server that waits for an answer of its own mount when it is killed never ends: its
// other half, which could answer, is gone. So the process that serves makes no request of
// its mount, unless [Options.OwnReads] says so, and nothing here asks a mount that was
// found without a limit of time ([Probe]). What does not answer is aborted by its owner
// ([Clear]).
//
// # Memory is the number of inodes
//
// Both the kernel and go-fuse hold about half a kilobyte for each inode that the
// kernel knows of, and the kernel forgets only when the whole machine is short
// of memory. So the number is bounded here (inodes.go): above [Options.MaxInodes]
// the kernel is told to drop the oldest that nobody uses.
//
// # Systems
//
// Linux is what this is tuned for; the bound on inodes needs Linux 6.18 for its
// best form. The package compiles for macOS and FreeBSD as well, untested. On
// other systems Mount returns an error.
package fs
