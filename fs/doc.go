// Package fs shows a [nodes.Tree] as a FUSE mount. It is the only package of lorefs that
// imports go-fuse.
//
// # How it works
//
// [Mount] puts go-fuse's node API (package fs of go-fuse, imported as fusefs) over the
// tree: one small node type, whose inode number and kernel node ID are the tree's own
// [nodes.ID]. In front of it stands a thin layer (front.go) that counts requests and
// answers directory listings without a handle, straight from the tree's cursors.
//
// # Speed is the number of requests
//
// A round trip to a FUSE server costs 10 to 50 µs, a hundred times the work behind it. So
// everything here is about requests that are not sent:
//
//   - attributes, names, missing names and content are cached for a day;
//   - open, opendir, flush and access are answered ENOSYS once, after which the
//     kernel never asks again: a node and an offset are enough to read anything;
//   - a listing includes the attributes of all entries (READDIRPLUS), and the
//     kernel keeps it;
//   - small files are pushed into the kernel's page cache while a program reads
//     its way through directories (prime.go);
//   - a tree without extended attributes says so to each program, and to one that goes on
//     asking in a way that makes the kernel answer.
//
// A second walk over a tree then sends nothing at all.
//
// # Changes
//
// A tree may change by itself ([nodes.Changing]), as a recording does that grows: it reports
// that, and the kernel is told. Open files are read on behind their former end.
//
// With [Options.ReadWrite] the tree is a [nodes.Mutable]. Reading then costs little more:
// OPEN is sent for each open(2), and the kernel asks once for the attributes of what was
// read. Everything else stays cached for a day, because there are only two sources of
// changes:
//
//   - the kernel sees changes through the mount itself. It drops what it holds of the
//     directory or the file, and ignores answers that were under way meanwhile;
//   - the tree reports its own changes, such as what an edit in one view changes in another.
//     The kernel is told to drop what it holds of them (notices.go), and whoever made the
//     edit is answered only then: see notices.end.
//
// So an answer may be cached if it was made after the last change that was reported before it:
//
//   - attributes and names: if nothing changed while the answer was made (changes.go). The
//     kernel drops an answer that was under way when a notice came, but only if it knows the
//     inode; otherwise the notice is repeated. The size of new content is told only when the
//     old content has left the kernel's cache (mount.isOld): the two must not meet;
//   - content: at each time, since a READ that was under way ends before the notice. From its
//     first change on, a file is read around the cache, one content for each open(2)
//     (pinned.go): the cache would mix several;
//   - content that is pushed (prime.go): not that of files that were changed or are open for
//     writing. A push that a change has overtaken is taken back, for which the one who made
//     the change waits;
//   - listings: if nothing in the directory changed since the listing began. The kernel checks that
//     only where it begins to list, so that it is told also of the names that it changed itself
//     (front.renamed). Names that do not exist are asked for each time.
//
// A value that does not fit is an error for the program that writes or closes the file.
// Since many programs ignore it, [Stats.LastErrors] remembers it with the path.
//
// # Mounts that do not answer
//
// A server that waits for an answer of its own mount when it is killed never ends, because
// it would have to answer itself. So the process that serves a mount makes no request of
// it, unless [Options.OwnReads] is set, and this package asks no other mount without a time
// limit ([Probe]). The owner of a mount that does not answer can abort it ([Clear]).
//
// # Memory is the number of inodes
//
// Both the kernel and go-fuse hold about half a kilobyte for each inode that the kernel
// knows, and the kernel forgets inodes only when the whole machine is short of memory. So
// this package bounds the number (inodes.go): above [Options.MaxInodes] it tells the kernel
// to drop the oldest unused ones.
//
// # Systems
//
// The package is tuned for Linux; the bound on inodes works best with Linux 6.18. It
// compiles for macOS and FreeBSD as well, untested. On other systems Mount returns an
// error.
package fs
