package treecopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/internal/diskspace"
	"lorefs/internal/links"
	"lorefs/nodes"
)

// Options are the options of Copy and Write. The zero value is right.
type Options struct {
	// Overwrite replaces existing files.
	Overwrite bool
	// Update replaces an existing file if what is copied differs from it, and else leaves it alone.
	Update bool
	// Since is a folder. What is the same there is not copied. Default: none.
	Since string
	// Same tells whether a file of the tree is what stands in a folder without reading it in the tree, for
	// Update and Since. If it returns false, both are read. Default: both are read.
	Same func(ctx context.Context, file nodes.ID, stands *Standing) (bool, error)
	// Stands is called for each file and link that is in the folder as it should be at the end, and
	// Seen for each that there is to copy. Both are called in parallel, and may be nil.
	Stands func(path string, sum Sum)
	Seen   func(path string)
	// Filter selects what is copied.
	Filter Filter
	// Readable returns why a file can't be read, as far as that is known without reading it.
	// Such files do not count for the room on the disk. Default: all can.
	Readable func(context.Context, nodes.ID) error
	// Replacing is called before an existing file is replaced. An error keeps the file as
	// it is. Default: all may be replaced.
	Replacing func(path string) error
	// Failed is called for each file that could not be written. If it returns nil the
	// others go on. Default: the first error ends it. A full or nearly full disk
	// ([diskspace.IsFull]) always ends it, without a call.
	Failed func(path string, why Reason, err error) error
	// Progress is called with the number of files and bytes done, from one goroutine at a
	// time.
	Progress func(files, bytes int64)
	// Rows says in which order files are best copied, by their numbers: those of a row one
	// after another, and several rows at the same time. It is called for some tens of
	// thousands of files at a time, by [Copy] only. Default: the order of the tree.
	Rows func(ctx context.Context, files []nodes.ID) ([][]int, error)
	// SizesLater has [Measure] not ask for sizes that a listing does not know.
	SizesLater bool
	// Workers is how many files are written at once. Default: one for each core.
	Workers int
}

// Report counts what was written.
type Report struct {
	Files, Dirs, Bytes int64
	// Same are the files that need not be written.
	Same int64
	// Unlisted says that there may be other files, in a directory that can't be read.
	Unlisted bool
	// The other files, by the reason why they are not written.
	Present, Missing, NoKey, Damaged, Failed int64
}

// add counts a file that is not written.
func (r *Report) add(why Reason) {
	switch why {
	case Present:
		r.Present++
	case Missing:
		r.Missing++
	case NoKey:
		r.NoKey++
	case Damaged:
		r.Damaged++
	case Failed:
		r.Failed++
	}
}

// Left returns how many files are not written.
func (r *Report) Left() int64 { return r.Present + r.Missing + r.NoKey + r.Damaged + r.Failed }

const (
	dirPerm  = 0o777 // before the umask, as mkdir(1)
	filePerm = 0o666
)

// target is the folder that is written to. It is safe for parallel use.
type target struct {
	ctx    context.Context //nolint:containedctx // it lives as long as Copy or Write
	cancel context.CancelCauseFunc
	root   *os.Root
	// old has the files that may be what is copied: root itself, Options.Since, or nil for none.
	old   *os.Root
	o     Options
	guard *diskspace.Guard

	// unlisted says that a directory could not be listed.
	unlisted atomic.Bool

	// mu guards report, and serializes callbacks.
	mu     sync.Mutex
	report Report
}

// newTarget makes the folder if needed.
func newTarget(ctx context.Context, to string, o Options) (*target, error) {
	to, err := links.MakeDir(to, dirPerm)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	t := &target{root: root, o: o, guard: diskspace.NewGuard(to)}
	switch {
	case o.Update:
		t.old, t.o.Overwrite = root, true
	case o.Since != "":
		if t.old, err = os.OpenRoot(o.Since); err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	return t, nil
}

func (t *target) close() {
	t.cancel(nil)
	t.root.Close() // nothing is written by it
	if t.old != nil && t.old != t.root {
		t.old.Close()
	}
}

// end returns the result when all writers are done.
func (t *target) end() (Report, error) {
	t.report.Unlisted = t.unlisted.Load()
	return t.report, context.Cause(t.ctx)
}

// folder makes a folder if needed.
func (t *target) folder(name string) error {
	err := checkName(name)
	if err == nil {
		err = t.guard.Take(diskspace.EntrySize)
	}
	if err == nil {
		err = t.root.MkdirAll(name, dirPerm)
	}
	if err != nil {
		return err
	}
	// A link below the folder can't lead out of it, but may lead to another user's files.
	_, err = links.Resolve(filepath.Join(t.root.Name(), filepath.FromSlash(name)))
	return err
}

// folderOf makes the folder that a file is in, if needed.
func (t *target) folderOf(name string) error {
	if dir := path.Dir(name); dir != "." {
		return t.folder(dir)
	}
	return nil
}

func (t *target) makeDir(name string) error {
	if err := t.folder(name); err != nil {
		return err
	}
	t.mu.Lock()
	t.report.Dirs++
	t.mu.Unlock()
	return nil
}

// file writes a whole file, or none, and reports it. A file that need not be written is only counted.
func (t *target) file(by *worker, name string, modTime time.Time, write func(io.Writer) (int64, error)) {
	n, same, err := t.write(by, name, modTime, write)
	if same {
		t.same()
		return
	}
	t.done(name, n, err)
}

// same counts a file that need not be written.
func (t *target) same() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Same++
	t.progress()
}

// progress tells how many files are done. The caller holds mu.
func (t *target) progress() {
	if t.o.Progress != nil {
		t.o.Progress(t.report.Files+t.report.Same, t.report.Bytes)
	}
}

// stands tells that a file is in the folder as it should be.
func (t *target) stands(name string, sum Sum) {
	if t.o.Stands != nil {
		t.o.Stands(name, sum)
	}
}

// done counts and reports a file.
func (t *target) done(name string, n int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.report.Files++
		t.report.Bytes += n
		t.progress()
		return
	}
	if t.ctx.Err() != nil {
		return // the context is the cause, not the file
	}
	why := reasonOf(err)
	t.report.add(why)
	if t.o.Failed != nil && !diskspace.IsFull(err) {
		err = t.o.Failed(name, why, err)
	} else {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		t.cancel(err)
	}
}

// mayReplace asks whether a file may be replaced, if it exists.
func (t *target) mayReplace(name string) error {
	if t.o.Replacing == nil {
		return nil
	}
	if _, err := t.root.Lstat(name); err != nil {
		return nil //nolint:nilerr // there is nothing to replace, or writing tells why there is
	}
	return t.o.Replacing(filepath.Join(t.root.Name(), filepath.FromSlash(name)))
}

// place returns the path at which a file is to be made, which settle then gives its name. A file
// that may be replaced stays until the new one is whole, and the target of a link always stays.
func (t *target) place(name string) (at string, err error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	at = name
	if t.o.Overwrite {
		if err := t.mayReplace(name); err != nil {
			return "", err
		}
		at = path.Join(path.Dir(name), fmt.Sprintf(".lorefs-%016x.tmp", rand.Uint64()))
	}
	return at, t.guard.Take(diskspace.EntrySize)
}

// settle gives a file its name, or removes it after an error.
func (t *target) settle(at, name string, err error) error {
	if err == nil && at != name {
		err = t.root.Rename(at, name)
	}
	if err != nil {
		err = errors.Join(err, t.remove(at))
	}
	return err
}

// write writes a file if there is none, or if it may replace that. same means that it need not be written.
func (t *target) write(by *worker, name string, modTime time.Time, write func(io.Writer) (int64, error)) (n int64, same bool, err error) {
	at := ""
	to := &comparing{make: func() (f *guarded, err error) {
		if t.o.Since != "" {
			err = t.folderOf(name) // which only now is known to be needed
		}
		if err == nil {
			at, err = t.place(name)
		}
		if err != nil {
			return nil, err
		}
		made, err := by.create(t.root, at)
		if err != nil {
			return nil, present(err)
		}
		return &guarded{f: made, guard: t.guard}, nil
	}}
	defer to.close()
	if t.o.Stands != nil {
		to.sum = newSum()
	}
	if err := to.begin(t.old, name); err != nil {
		return 0, false, err
	}
	n, err = write(to)
	switch {
	case err == nil:
		same, err = to.end()
	case to.err == nil:
		err = contentError{err}
	}
	if to.new == nil {
		if same && t.old == t.root {
			t.stands(name, sumOf(to.sum))
		}
		return n, same, err
	}
	f := to.new.f
	dated := modTime.IsZero() || err == nil && setTime(f, modTime)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && !dated {
		err = t.root.Chtimes(at, time.Time{}, modTime)
	}
	if err = t.settle(at, name, err); err == nil {
		t.stands(name, sumOf(to.sum))
	}
	return n, false, err
}

// link makes a link if there is none.
func (t *target) link(name, target string) error {
	if there, err := t.root.Readlink(name); t.o.Update && err == nil && there == target {
		t.stands(name, linkSum(target))
		return errSame
	}
	at, err := t.place(name)
	if err == nil {
		err = present(t.root.Symlink(target, at))
	}
	if err == nil {
		err = t.settle(at, name, nil)
	}
	if err == nil {
		t.stands(name, linkSum(target))
	}
	return err
}

// guarded stops writing when the disk is nearly full, and keeps the error.
type guarded struct {
	f     *os.File
	guard *diskspace.Guard
	err   error
}

func (g *guarded) Write(p []byte) (n int, err error) {
	if err = g.guard.Take(int64(len(p))); err == nil {
		n, err = g.f.Write(p)
	}
	g.err = err
	return n, err
}

// Restart drops what was written, for trees that find out late how a file begins.
func (g *guarded) Restart() error {
	if g.err == nil {
		g.err = g.f.Truncate(0)
	}
	if g.err == nil {
		_, g.err = g.f.Seek(0, io.SeekStart)
	}
	return g.err
}
