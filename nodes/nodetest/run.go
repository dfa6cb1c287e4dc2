package nodetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"testing"
	"time"

	"lorefs/nodes"
)

// Run checks that tree does what [nodes.Tree] promises.
func Run(t *testing.T, tree nodes.Tree, opts ...Option) {
	t.Helper()
	o := parse(opts)
	s := &suite{tree: tree, sampled: sample(t, tree, o.limit)}
	for _, n := range s.sampled {
		switch n.entry.Kind {
		case nodes.Dir:
			s.dirs = append(s.dirs, n)
		case nodes.Link:
			s.links = append(s.links, n)
		default:
			s.files = append(s.files, n)
		}
	}
	s.dirs = append(s.dirs, sampled{path: "/", entry: nodes.Entry{ID: nodes.Root, Kind: nodes.Dir}})
	t.Run("root", s.root)
	t.Run("entries", s.entries)
	t.Run("numbers", func(t *testing.T) { s.numbers(t) })
	t.Run("listings", s.listings)
	t.Run("content", s.content)
	t.Run("whole", s.whole)
	t.Run("links", s.targets)
	t.Run("wrong kind", s.wrongKind)
	t.Run("unknown names", s.unknownNames)
	t.Run("unknown numbers", s.unknownNumbers)
	t.Run("usage", s.usage)
	t.Run("attributes", s.xattrs)
	t.Run("concurrent", s.concurrent)
}

type suite struct {
	tree               nodes.Tree
	sampled            []sampled
	dirs, files, links []sampled
	// distinct is the number of different nodes in the sample, with the root.
	distinct int
}

func (s *suite) root(t *testing.T) {
	attr, err := s.tree.Attr(t.Context(), nodes.Root)
	if err != nil {
		t.Fatal(err)
	}
	if attr.Kind != nodes.Dir || attr.Size != 0 || attr.ModTime.IsZero() {
		t.Errorf("root = %+v, want a directory of size 0 with a time", attr)
	}
}

// entries checks that Lookup and Attr agree with the listing.
func (s *suite) entries(t *testing.T) {
	for _, n := range s.sampled {
		if err := s.checkEntry(t.Context(), n); err != nil {
			t.Errorf("%s: %v", n.path, err)
		}
	}
}

func (s *suite) checkEntry(ctx context.Context, n sampled) error {
	got, err := s.tree.Lookup(ctx, n.parent, n.entry.Name)
	if err != nil {
		return fmt.Errorf("lookup: %w", err)
	}
	if got.Name != n.entry.Name || got.ID != n.entry.ID || got.Kind != n.entry.Kind || !sameSize(got, n.entry) {
		return fmt.Errorf("it is looked up as %+v, the listing has %+v", got, n.entry)
	}
	if got.Next != 0 {
		return fmt.Errorf("a lookup sets Next to %d", got.Next)
	}
	if n.attr.Kind != n.entry.Kind || n.attr.Size != n.entry.Size {
		return fmt.Errorf("attributes are %+v, the listing has %+v", n.attr, n.entry)
	}
	if n.attr.Kind == nodes.Dir && n.attr.Size != 0 {
		return fmt.Errorf("a directory has size %d", n.attr.Size)
	}
	for _, e := range []nodes.Entry{got, n.entry} {
		want := e.ModTime
		if want.IsZero() {
			parent, err := s.tree.Attr(ctx, n.parent)
			if err != nil {
				return err
			}
			want = parent.ModTime
		}
		if !n.attr.ModTime.Equal(want) {
			return fmt.Errorf("its time is %v, the entry stands for %v", n.attr.ModTime, want)
		}
	}
	return nil
}

// sameSize reports whether two entries have the same size, or a size is unknown.
func sameSize(a, b nodes.Entry) bool {
	return a.Size == b.Size || a.Size == nodes.UnknownSize || b.Size == nodes.UnknownSize
}

// sameEntry reports whether two listings agree on an entry.
func sameEntry(a, b nodes.Entry) bool {
	if !sameSize(a, b) {
		return false
	}
	a.Size = b.Size
	return a == b
}

// numbers checks the range of numbers, and that no two names lead to the same directory.
func (s *suite) numbers(t testing.TB) {
	seen := map[nodes.ID]sampled{nodes.Root: {path: "/", entry: nodes.Entry{Kind: nodes.Dir}}}
	for _, n := range s.sampled {
		if n.entry.ID == 0 || n.entry.ID > nodes.MaxID {
			t.Errorf("%s has the number %d", n.path, n.entry.ID)
		}
		if other, ok := seen[n.entry.ID]; ok && !sameFile(n, other) {
			t.Errorf("%s and %s are both number %d, and not one file", n.path, other.path, n.entry.ID)
		}
		seen[n.entry.ID] = n
	}
	s.distinct = len(seen)
}

// sameFile reports whether two names may have the same number.
func sameFile(a, b sampled) bool {
	return a.entry.Kind == nodes.File && b.entry.Kind == nodes.File && a.attr == b.attr
}

// resumeAt is the most cursors of one directory from which a listing is resumed.
const resumeAt = 16

// listings checks order and names, and that a listing can be resumed from any cursor.
func (s *suite) listings(t *testing.T) {
	for _, d := range s.dirs {
		if err := s.checkListing(t.Context(), d.entry.ID); err != nil {
			t.Errorf("%s: %v", d.path, err)
		}
	}
}

func (s *suite) checkListing(ctx context.Context, dir nodes.ID) error {
	all, err := list(ctx, s.tree, dir)
	if err != nil {
		return err
	}
	names := make(map[string]bool, len(all))
	cursors := map[uint64]bool{0: true}
	for _, e := range all {
		if names[e.Name] || !legal(e.Name) {
			return fmt.Errorf("name %q is there twice or is none", e.Name)
		}
		if cursors[e.Next] || e.Next > uint64(nodes.MaxID) {
			return fmt.Errorf("%q: the cursor %d is out of range or was there before", e.Name, e.Next)
		}
		names[e.Name], cursors[e.Next] = true, true
	}
	at, _ := pick(all, resumeAt)
	for _, from := range at {
		i := indexOf(all, from.Next) + 1
		for e, err := range s.tree.ReadDir(ctx, dir, from.Next) {
			if err != nil {
				return fmt.Errorf("behind %q: %w", from.Name, err)
			}
			if i >= len(all) || !sameEntry(e, all[i]) {
				return fmt.Errorf("behind %q: entry %d is %+v", from.Name, i, e)
			}
			i++
			if i%resumeAt == 0 {
				break // a listing may be stopped at any entry
			}
		}
		if i%resumeAt != 0 && i != len(all) {
			return fmt.Errorf("behind %q: %d entries, want %d", from.Name, i, len(all))
		}
	}
	return nil
}

func legal(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && !bytes.ContainsAny([]byte(name), "/\x00")
}

func indexOf(entries []nodes.Entry, next uint64) int {
	for i, e := range entries {
		if e.Next == next {
			return i
		}
	}
	return -1
}

// maxContent is the size of the largest file that is read as a whole.
const maxContent = 1 << 22

func (s *suite) content(t *testing.T) {
	for _, f := range s.files {
		if f.entry.Size > maxContent {
			continue
		}
		if err := s.checkContent(t.Context(), f.entry); err != nil {
			t.Errorf("%s: %v", f.path, err)
		}
	}
}

// whole checks that files that can be read as a whole have the same content.
func (s *suite) whole(t *testing.T) {
	tree, ok := s.tree.(nodes.WholeReader)
	if !ok {
		return
	}
	var files []nodes.Entry
	for _, f := range s.files {
		f.entry.Size = f.attr.Size
		files = append(files, f.entry)
	}
	seen := map[int]bool{}
	for i, content := range tree.ReadWhole(t.Context(), files) {
		want, err := ReadFile(t.Context(), s.tree, files[i].ID)
		if err != nil || !bytes.Equal(content, want) || seen[i] {
			t.Errorf("%s: %d bytes as a whole, otherwise %d, %v; before: %v", s.files[i].path, len(content), len(want), err, seen[i])
		}
		seen[i] = true
	}
}

// targets checks that links have a relative target and no content, and that nothing else has a
// target.
func (s *suite) targets(t *testing.T) {
	for _, l := range s.links {
		target, err := nodes.Readlink(t.Context(), s.tree, l.entry.ID)
		if err != nil || int64(len(target)) != l.attr.Size || path.IsAbs(target) {
			t.Errorf("%s leads to %q, %v; want a relative path of %d bytes", l.path, target, err, l.attr.Size)
		}
		if n, err := s.tree.ReadAt(t.Context(), l.entry.ID, make([]byte, 1), 0); n != 0 || err == nil || atEnd(err) {
			t.Errorf("a read of the link %s = %d, %v; want an error", l.path, n, err)
		}
	}
	for _, n := range append(s.dirs[:min(fewTimes, len(s.dirs)):min(fewTimes, len(s.dirs))], s.files[:min(fewTimes, len(s.files))]...) {
		if target, err := nodes.Readlink(t.Context(), s.tree, n.entry.ID); !errors.Is(err, nodes.ErrInvalid) {
			t.Errorf("Readlink of %s = %q, %v; want ErrInvalid", n.path, target, err)
		}
	}
}

// unreadable reports whether a tree may return err for the content of a file.
func unreadable(err error) bool {
	return errors.Is(err, nodes.ErrNoKey) || errors.Is(err, nodes.ErrUnavailable)
}

func (s *suite) checkContent(ctx context.Context, e nodes.Entry) error {
	// The buffer is one byte longer than the file, so the read must find the end.
	all := make([]byte, e.Size+1)
	n, err := s.tree.ReadAt(ctx, e.ID, all, 0)
	if unreadable(err) {
		return nil
	}
	if int64(n) != e.Size || !atEnd(err) {
		return fmt.Errorf("a read of %d bytes = %d, %w; want %d and io.EOF", len(all), n, err, e.Size)
	}
	all = all[:n]
	for _, off := range []int64{0, 1, e.Size / 3, e.Size / 2, e.Size - 1} {
		if off < 0 || off >= e.Size {
			continue
		}
		p := make([]byte, min(7, e.Size-off))
		n, err := s.tree.ReadAt(ctx, e.ID, p, off)
		if n != len(p) || (err != nil && !atEnd(err)) || !bytes.Equal(p, all[off:off+int64(n)]) {
			return fmt.Errorf("a read of %d bytes at %d = %q, %w", len(p), off, p[:n], err)
		}
	}
	for _, off := range []int64{e.Size, e.Size + 1, 1 << 40} {
		if n, err := s.tree.ReadAt(ctx, e.ID, make([]byte, 3), off); n != 0 || !atEnd(err) {
			return fmt.Errorf("a read at %d = %d, %w; want io.EOF", off, n, err)
		}
	}
	if n, err := s.tree.ReadAt(ctx, e.ID, make([]byte, 3), -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("a read at -1 = %d, %w; want an error", n, err)
	}
	return nil
}

// ReadFile reads a whole file from the tree, without a mount.
func ReadFile(ctx context.Context, tree nodes.Tree, id nodes.ID) ([]byte, error) {
	attr, err := tree.Attr(ctx, id)
	if err != nil {
		return nil, err
	}
	p := make([]byte, attr.Size)
	n, err := tree.ReadAt(ctx, id, p, 0)
	if n < len(p) || (err != nil && !atEnd(err)) {
		return nil, fmt.Errorf("%d of %d bytes: %w", n, len(p), cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return p, nil
}

// atEnd reports whether err is the one that ends a file.
func atEnd(err error) bool {
	return err == io.EOF //nolint:errorlint // the contract forbids a wrapped io.EOF
}

// fewTimes is the number of nodes in checks of which a few nodes are enough.
const fewTimes = 50

func (s *suite) wrongKind(t *testing.T) {
	ctx := t.Context()
	for _, f := range s.files[:min(fewTimes, len(s.files))] {
		if _, err := s.tree.Lookup(ctx, f.entry.ID, "x"); !errors.Is(err, nodes.ErrNotDir) {
			t.Errorf("Lookup in the file %s: %v, want ErrNotDir", f.path, err)
		}
		if _, err := list(ctx, s.tree, f.entry.ID); !errors.Is(err, nodes.ErrNotDir) {
			t.Errorf("ReadDir of the file %s: %v, want ErrNotDir", f.path, err)
		}
	}
	for _, d := range s.dirs[:min(fewTimes, len(s.dirs))] {
		if _, err := s.tree.ReadAt(ctx, d.entry.ID, make([]byte, 1), 0); !errors.Is(err, nodes.ErrIsDir) {
			t.Errorf("ReadAt of the directory %s: %v, want ErrIsDir", d.path, err)
		}
	}
}

func (s *suite) unknownNames(t *testing.T) {
	for _, d := range s.dirs[:min(fewTimes, len(s.dirs))] {
		for _, name := range []string{"no such name", "", ".", "..", "a/b", "\xff", ".1"} {
			if _, err := s.tree.Lookup(t.Context(), d.entry.ID, name); !errors.Is(err, nodes.ErrNotExist) {
				t.Errorf("Lookup of %q in %s: %v, want ErrNotExist", name, d.path, err)
			}
		}
	}
}

// unknownNumbers uses invented numbers. Some may be those of nodes after all, so it only checks
// that nothing panics and that 0 is unknown.
func (s *suite) unknownNumbers(t *testing.T) {
	ctx := t.Context()
	ids := []nodes.ID{0, 2, 1 << 20, 1 << 31, 1<<32 + 1, 1 << 59, 1 << 60, 1 << 62, nodes.MaxID, ^nodes.ID(0)}
	for _, n := range s.sampled[:min(fewTimes, len(s.sampled))] {
		ids = append(ids, n.entry.ID+1, n.entry.ID-1, n.entry.ID^1<<40)
	}
	for _, id := range ids {
		_, attrErr := s.tree.Attr(ctx, id)
		_, _ = s.tree.Lookup(ctx, id, "x")
		_, _ = s.tree.ReadAt(ctx, id, make([]byte, 8), 0)
		for _, cursor := range []uint64{0, 1, 3, 1 << 33, 1<<63 - 1, 1<<64 - 1} {
			for _, err := range s.tree.ReadDir(ctx, id, cursor) {
				if err != nil || cursor != 0 {
					break
				}
			}
		}
		if id == 0 && !errors.Is(attrErr, nodes.ErrNotExist) {
			t.Errorf("Attr of 0: %v, want ErrNotExist", attrErr)
		}
	}
}

func (s *suite) usage(t *testing.T) {
	u := s.tree.Usage()
	if u.Nodes < int64(s.distinct) || u.Bytes < 0 {
		t.Errorf("Usage = %+v, but there are at least %d nodes", u, s.distinct)
	}
}

func (s *suite) xattrs(t *testing.T) {
	x, ok := nodes.Xattrs(s.tree)
	if !ok {
		t.Skip("the tree has no extended attributes")
	}
	for _, n := range s.sampled[:min(fewTimes, len(s.sampled))] {
		names, err := x.Xattrs(t.Context(), n.entry.ID)
		if err != nil {
			t.Errorf("Xattrs of %s: %v", n.path, err)
		}
		for _, name := range names {
			if _, err := x.Xattr(t.Context(), n.entry.ID, name); err != nil {
				t.Errorf("Xattr %s of %s: %v", name, n.path, err)
			}
		}
		if _, err := x.Xattr(t.Context(), n.entry.ID, "user.lorefs.no such name"); !errors.Is(err, nodes.ErrNoXattr) {
			t.Errorf("unknown Xattr of %s: %v, want ErrNoXattr", n.path, err)
		}
	}
}

// workers is the number of goroutines that use the tree at once.
const workers = 16

// concurrent repeats checks from many goroutines, for the race detector and to find caches that
// mix up nodes. It stops early on a slow tree.
func (s *suite) concurrent(t *testing.T) {
	deadline := time.Now().Add(2 * time.Second)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(s.sampled); i += workers/4 + 1 {
				n := s.sampled[i]
				err := s.checkEntry(t.Context(), n)
				if err == nil && n.entry.Kind == nodes.Dir {
					err = s.checkListing(t.Context(), n.entry.ID)
				} else if err == nil && n.entry.Kind == nodes.File && n.entry.Size <= maxContent {
					err = s.checkContent(t.Context(), n.entry)
				}
				if err != nil {
					t.Errorf("%s: %v", path.Clean(n.path), err)
					return
				}
				if time.Now().After(deadline) {
					return
				}
			}
		})
	}
	wg.Wait()
}
