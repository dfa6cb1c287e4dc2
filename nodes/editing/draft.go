package editing

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"

	"lorefs/nodes"
)

// Draft is a Text that is to become what a file holds in its source. One that can't is
// refused, but stays, with the problem that it has. It is changed as a Text is.
type Draft struct {
	Text
	problem error
	// counted is how much of it Drafts.bytes has.
	counted int64
}

// Problem is why the text was refused, nil if it was not.
func (d *Draft) Problem() error { return d.problem }

// Tried notes what came of the text: nil, or why it was refused. Nothing of it waits for
// a commit any more.
func (d *Draft) Tried(problem error) {
	d.Clean()
	d.problem = problem
}

// Drop lets go of the text and of its problem: the file shows its source again.
func (d *Draft) Drop() {
	d.Text.Drop()
	d.problem = nil
}

// MaxTexts is how many bytes the texts of a tree may have together, unless it is told
// otherwise.
const MaxTexts = 1 << 30

// Limits are how many bytes a text may have, and all that are held together.
type Limits struct{ Text, Texts int64 }

// Drafts are those of a tree whose files are texts. For whoever uses such a tree:
//
//   - A text that can't become what its file is to hold is refused when it is closed, for
//     whatever reason, and stays: the file shows it until it is written anew, replaced or
//     removed. All else shows what the source holds, and can be edited and saved. What is
//     edited elsewhere leaves the text as it is, and a good one that takes its place counts
//     as a whole.
//   - Its user.lorefs.error says what is wrong.
//   - So it is with a text that a rename was to make the content of another file. It
//     stays under both names: tools that save by renaming remove the file that they could
//     not rename. Where there is no room for that, or somebody is writing there, it stays
//     under its first name only, which the log tells.
//   - All texts together are limited, as they are in memory. They are in no journal: they
//     go with the process, and who ends a mount has to keep those that Refused gives.
//
// The tree settles what its own files are: see [Drafted]. P is its kind of a Place.
type Drafts[P Placer] struct {
	owner  *Owner
	limits Limits
	own    Drafted[P]
	logger *slog.Logger
	// bytes is how much all take. Mu guards it.
	bytes int64
}

// Drafted is a tree's own way of finding Drafts.
type Drafted[P Placer] struct {
	// Of is that of a node, nil if there is none. Mu is held.
	Of func(id nodes.ID) *Draft
	// All yields those of files that have names, with their paths. Mu is held.
	All func() iter.Seq2[string, *Draft]
	// Slot is where the text of a file goes that could not be renamed to a place. The
	// error is why it can't. The caller holds Editing.
	Slot func(ctx context.Context, to P) (Slot, error)
}

// Slot is a place for a text that was refused.
type Slot struct {
	// ID is that of the file, which need not be there so far, Dir that of its directory.
	ID, Dir nodes.ID
	Draft   *Draft
	// Show lets the file show the Draft, which holds the text by then. Mu is held.
	Show func()
}

// NewDrafts makes those of a tree.
func NewDrafts[P Placer](o *Owner, limits Limits, own Drafted[P], logger *slog.Logger) *Drafts[P] {
	return &Drafts[P]{owner: o, limits: limits, own: own, logger: logger}
}

// Count keeps account of the memory that a Draft takes, after it was changed. One that
// belongs to no file any more is not counted: only who has it open can read it. The
// caller holds Mu.
func (d *Drafts[P]) Count(draft *Draft, belongs bool) {
	n := int64(0)
	if belongs && draft.Held() {
		n = draft.Cap()
	}
	d.bytes += n - draft.counted
	draft.counted = n
}

// Room tells whether a text can have a size: [nodes.ErrTooLarge], [nodes.ErrNoSpace]. The
// caller holds Editing.
func (d *Drafts[P]) Room(draft *Draft, size int64) error {
	if err := CheckSize(size, d.limits.Text); err != nil {
		return err
	}
	d.owner.mu.RLock()
	defer d.owner.mu.RUnlock()
	if d.bytes-draft.counted+size > d.limits.Texts && size > draft.counted {
		return fmt.Errorf("%w: texts that are not saved have %d bytes together, where %d are the most", nodes.ErrNoSpace, d.bytes, d.limits.Texts)
	}
	return nil
}

// Refuse keeps the text of a file that was to be renamed to a place, and can't for a
// cause. The caller holds Editing.
func (d *Drafts[P]) Refuse(ctx context.Context, from *Draft, to P, cause error) {
	if ctx.Err() != nil {
		return // nobody looked at all of the text
	}
	d.owner.mu.Lock()
	from.problem = cause
	text := from.Bytes()
	d.owner.mu.Unlock()
	if err := d.keep(ctx, text, to, cause); err != nil {
		d.logger.Warn("a text that was refused is kept under its first name only",
			"file", to.place().Name, "problem", cause, "err", err)
	}
}

// keep makes a text that was refused the Draft of a place.
func (d *Drafts[P]) keep(ctx context.Context, text []byte, to P, cause error) error {
	s, err := d.own.Slot(ctx, to)
	if err != nil {
		return err
	}
	if d.isDirty(s.Draft) {
		return fmt.Errorf("%w: somebody is writing it", nodes.ErrExist)
	}
	if err := d.Room(s.Draft, int64(len(text))); err != nil {
		return err
	}
	text = slices.Clone(text)
	d.owner.mu.Lock()
	s.Draft.Hold(text)
	s.Draft.problem = cause
	s.Show()
	d.Count(s.Draft, true)
	d.owner.mu.Unlock()
	d.owner.Tell(nodes.Change{ID: s.ID})
	if p := to.place(); !p.Exists() {
		d.owner.Tell(nodes.Change{Dir: s.Dir, Name: p.Name})
	}
	return nil
}

func (d *Drafts[P]) isDirty(draft *Draft) bool {
	d.owner.mu.RLock()
	defer d.owner.mu.RUnlock()
	return draft.Dirty()
}

// Refused is a text that could not become what the file holds that shows it.
type Refused struct {
	// Path is where it is in the tree.
	Path    string
	Text    []byte
	Problem error
}

// Refused gives the texts that were refused and not saved anew since. They must not be
// changed.
func (d *Drafts[P]) Refused() []Refused {
	d.owner.mu.RLock()
	defer d.owner.mu.RUnlock()
	var list []Refused
	for path, draft := range d.own.All() {
		if draft.problem != nil {
			list = append(list, Refused{Path: path, Text: draft.Bytes(), Problem: draft.problem})
		}
	}
	slices.SortFunc(list, func(a, b Refused) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// xattrError is what is wrong with the text of a file.
const xattrError = "user.lorefs.error"

// Xattrs implements [nodes.Xattrer].
func (d *Drafts[P]) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	if _, err := d.owner.tree.Attr(ctx, id); err != nil {
		return nil, err
	}
	if d.problem(id) == nil {
		return nil, nil
	}
	return []string{xattrError}, nil
}

// Xattr implements [nodes.Xattrer].
func (d *Drafts[P]) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	if _, err := d.owner.tree.Attr(ctx, id); err != nil {
		return nil, err
	}
	if problem := d.problem(id); problem != nil && name == xattrError {
		return []byte(problem.Error()), nil
	}
	return nil, fmt.Errorf("%s: %w", name, nodes.ErrNoXattr)
}

func (d *Drafts[P]) problem(id nodes.ID) error {
	d.owner.mu.RLock()
	defer d.owner.mu.RUnlock()
	if draft := d.own.Of(id); draft != nil {
		return draft.problem
	}
	return nil
}
