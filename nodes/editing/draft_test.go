package editing_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// shelf is a tree of drafts in one directory.
type shelf struct {
	nodes.Tree // nothing but Attr is asked for
	owner      *editing.Owner
	drafts     *editing.Drafts[*spot]
	editing    sync.Mutex
	mu         sync.RWMutex
	files      map[nodes.ID]*editing.Draft
	names      map[string]nodes.ID
	told       []nodes.Change
	log        bytes.Buffer
}

// spot is a place of it.
type spot struct{ editing.Place }

const shelfDir = nodes.ID(7)

var errFull = errors.New("nothing can be there")

func newShelf(t *testing.T, limits editing.Limits) *shelf {
	t.Helper()
	s := &shelf{files: map[nodes.ID]*editing.Draft{}, names: map[string]nodes.ID{}}
	s.owner = editing.NewOwner(s, &s.editing, &s.mu, nil, nil)
	s.owner.Tell = func(c nodes.Change) { s.told = append(s.told, c) }
	s.drafts = editing.NewDrafts(s.owner, limits, editing.Drafted[*spot]{
		Of: func(id nodes.ID) *editing.Draft { return s.files[id] }, All: s.all, Slot: s.slot,
	}, slog.New(slog.NewTextHandler(&s.log, nil)))
	return s
}

func (s *shelf) Attr(_ context.Context, id nodes.ID) (nodes.Attr, error) {
	if s.files[id] == nil {
		return nodes.Attr{}, nodes.NotExist(id)
	}
	return nodes.Attr{Kind: nodes.File}, nil
}

func (s *shelf) all() iter.Seq2[string, *editing.Draft] {
	return func(yield func(string, *editing.Draft) bool) {
		for name, id := range s.names {
			if !yield("dir/"+name, s.files[id]) {
				return
			}
		}
	}
}

func (s *shelf) slot(_ context.Context, to *spot) (editing.Slot, error) {
	if to.Name == "full" {
		return editing.Slot{}, errFull
	}
	id, draft := to.ID, s.files[to.ID]
	if draft == nil {
		id, draft = nodes.ID(100+len(s.files)), &editing.Draft{}
	}
	return editing.Slot{ID: id, Dir: shelfDir, Draft: draft, Show: func() { s.files[id], s.names[to.Name] = draft, id }}, nil
}

// put makes a file that holds a text.
func (s *shelf) put(name, text string) *editing.Draft {
	s.mu.Lock()
	defer s.mu.Unlock()
	draft := &editing.Draft{}
	draft.Hold(slices.Clip([]byte(text)))
	id := nodes.ID(100 + len(s.files))
	s.files[id], s.names[name] = draft, id
	s.drafts.Count(draft, true)
	return draft
}

func (s *shelf) at(name string) *spot {
	p := &spot{editing.Place{Name: name, ID: s.names[name]}}
	if p.ID != 0 {
		p.Kind = nodes.File
	}
	return p
}

func (s *shelf) text(name string) string { return string(s.files[s.names[name]].Bytes()) }

var roomy = editing.Limits{Text: 100, Texts: 1000}

// A text that can't be renamed is kept under both names, and each is a text of its own.
func TestRefuse(t *testing.T) {
	for _, there := range []bool{false, true} {
		s := newShelf(t, roomy)
		from := s.put("temp", "bad text")
		if there {
			s.put("file", "another text, refused before").Tried(errFull)
		}
		s.drafts.Refuse(t.Context(), from, s.at("file"), errBad)
		if s.text("file") != "bad text" || s.text("temp") != "bad text" {
			t.Errorf("they have %q and %q", s.text("file"), s.text("temp"))
		}
		id := s.names["file"]
		want := []nodes.Change{{ID: id}, {Dir: shelfDir, Name: "file"}}
		if there {
			want = want[:1]
		}
		if !slices.Equal(s.told, want) {
			t.Errorf("told %v, want %v", s.told, want)
		}
		from.Bytes()[0] = 'B'
		if s.text("file") != "bad text" {
			t.Error("they are the same text")
		}
		list := s.drafts.Refused()
		if len(list) != 2 || list[0].Path != "dir/file" || string(list[0].Text) != "bad text" || !errors.Is(list[1].Problem, errBad) {
			t.Errorf("refused: %+v", list)
		}
		if x, err := s.drafts.Xattr(t.Context(), id, "user.lorefs.error"); string(x) != errBad.Error() || err != nil {
			t.Errorf("user.lorefs.error is %q, %v", x, err)
		}
		s.files[id].Drop()
		if names, err := s.drafts.Xattrs(t.Context(), id); len(names) != 0 || err != nil || len(s.drafts.Refused()) != 1 {
			t.Errorf("after it was dropped: %q, %v", names, err)
		}
	}
}

// Where the text can't go, all stays as it is there, and the log tells.
func TestRefuseStays(t *testing.T) {
	for _, tt := range []struct{ to, want string }{
		{"full", errFull.Error()},
		{"written", "somebody is writing it"},
		{"new", "texts that are not saved have"},
	} {
		s := newShelf(t, editing.Limits{Text: 100, Texts: 20})
		from := s.put("temp", "bad bad bad text")
		written := s.put("written", "")
		w := s.owner.Open(&written.Text, anyFile{})
		write(t, w, "half", 0)
		s.drafts.Refuse(t.Context(), from, s.at(tt.to), errBad)
		if !strings.Contains(s.log.String(), tt.want) || len(s.told) > 0 {
			t.Errorf("%s: told %v; the log has %s", tt.to, s.told, &s.log)
		}
		if s.text("written") != "half" || s.names["new"] != 0 {
			t.Errorf("%s: what was there is %q", tt.to, s.text("written"))
		}
		if list := s.drafts.Refused(); len(list) != 1 || list[0].Path != "dir/temp" {
			t.Errorf("%s: refused: %+v", tt.to, list)
		}
	}
}

// anyFile takes what is written.
type anyFile struct{}

func (anyFile) Hold(context.Context) error   { return nil }
func (anyFile) Room(int64) error             { return nil }
func (anyFile) Touched()                     {}
func (anyFile) Incomplete() bool             { return false }
func (anyFile) Commit(context.Context) error { return nil }
func (anyFile) Settle()                      {}

// A text that nobody has looked at to the end is not refused.
func TestRefuseCanceled(t *testing.T) {
	s := newShelf(t, roomy)
	from := s.put("temp", "text")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s.drafts.Refuse(ctx, from, s.at("file"), ctx.Err()); from.Problem() != nil || len(s.files) != 1 {
		t.Errorf("%d files, the first with %v", len(s.files), from.Problem())
	}
}

func TestRoom(t *testing.T) {
	s := newShelf(t, editing.Limits{Text: 100, Texts: 250})
	a, b := s.put("a", strings.Repeat("a", 100)), s.put("b", strings.Repeat("b", 100))
	var other editing.Draft
	for _, tt := range []struct {
		draft *editing.Draft
		size  int64
		want  error
	}{
		{&other, 101, nodes.ErrTooLarge},
		{&other, 51, nodes.ErrNoSpace},
		{&other, 50, nil},
		{a, 100, nil},
	} {
		if err := s.drafts.Room(tt.draft, tt.size); !errors.Is(err, tt.want) {
			t.Errorf("%d bytes: %v, want %v", tt.size, err, tt.want)
		}
	}
	s.drafts.Count(b, false) // it has gone, and only who has it open can read it
	if err := s.drafts.Room(&other, 100); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
