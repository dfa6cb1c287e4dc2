package dctree_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"lorefs/datacenter/dctest"
	"lorefs/nodes"
)

// weapon returns a document with attributes of all types in two nodes of one path.
func weapon() dctest.Doc {
	item := func(id int) *dctest.Node {
		return &dctest.Node{Name: "Item", Attrs: []dctest.Attr{
			{Name: "id", Value: id},
			{Name: "rate", Value: float32(0.5)},
			{Name: "rare", Value: false},
			{Name: "name", Value: "sword"},
			dctest.Text("long ago\n"),
		}}
	}
	return dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "Weapon", Children: []*dctest.Node{item(1), item(2)}})}
}

// session does what tools do with the files of one directory.
type session struct {
	T *testing.T
	*edited
	dir  string
	file string
	text string // the content that the file shall have
}

func (s *session) path(name string) string { return s.dir + "/" + name }

func (s *session) ok(err error) {
	s.T.Helper()
	must(s.T, err)
}

// make creates, writes and closes a file.
func (s *session) make(name, text string) nodes.ID {
	s.T.Helper()
	id := s.create(s.T, s.path(name))
	w := s.open(s.T, id)
	s.put(w, text, 0)
	s.ok(w.Flush(s.T.Context()))
	s.ok(w.Release())
	return id
}

func (s *session) put(w nodes.Writer, text string, off int64) {
	s.T.Helper()
	n, err := w.WriteAt(s.T.Context(), []byte(text), off)
	if err != nil || n != len(text) {
		s.T.Fatalf("write %q: %d, %v", text, n, err)
	}
}

func (s *session) mv(from, to string) {
	s.T.Helper()
	s.ok(s.rename(s.T, s.path(from), s.path(to)))
}

func (s *session) rm(name string) {
	s.T.Helper()
	s.ok(s.remove(s.T, s.path(name)))
}

func (s *session) openFile() nodes.Writer {
	s.T.Helper()
	return s.open(s.T, s.mustAt(s.T, s.path(s.file)))
}

// tools has the requests that each tool was seen to make.
var tools = map[string]func(*session){
	"echo": func(s *session) {
		w := s.openFile()
		s.ok(w.Truncate(s.T.Context(), 0))
		s.ok(w.Flush(s.T.Context()))
		s.put(w, s.text, 0)
		s.ok(w.Flush(s.T.Context()))
		s.ok(w.Release())
	},
	"cp": func(s *session) {
		w := s.openFile()
		s.ok(w.Truncate(s.T.Context(), 0))
		s.put(w, s.text[:1], 0)
		s.put(w, s.text[1:], 1)
		s.ok(w.Flush(s.T.Context()))
		s.ok(w.Release())
	},
	"rsync --inplace": func(s *session) {
		w := s.openFile()
		s.put(w, s.text, 0)
		s.ok(w.Truncate(s.T.Context(), int64(len(s.text))))
		s.put(w, "", int64(len(s.text)))
		s.ok(w.Flush(s.T.Context()))
		s.ok(w.Release())
		s.ok(s.SetModTime(s.T.Context(), s.mustAt(s.T, s.path(s.file)), time.Unix(1e9, 0)))
	},
	"sed -i": func(s *session) {
		s.make("sedXqLw9f", s.text)
		s.mv("sedXqLw9f", s.file)
	},
	"perl -pi": func(s *session) {
		w := s.open(s.T, s.create(s.T, s.path("XXabcdef")))
		s.put(w, s.text, 0)
		s.mv("XXabcdef", s.file)
		s.ok(w.Flush(s.T.Context()))
		s.ok(w.Release())
	},
	"rsync": func(s *session) {
		id := s.make(".name.CG0rLB", s.text)
		s.ok(s.SetModTime(s.T.Context(), id, time.Unix(1e9, 0)))
		s.mv(".name.CG0rLB", s.file)
	},
	"vim, backup by copy": func(s *session) {
		s.make(".name.swp", "b0VIM 9.0\x00\x10\x00")
		s.make(".name.swpx", "")
		s.rm(".name.swpx")
		s.make(s.file+"~", "before")
		w := s.openFile()
		s.ok(w.Truncate(s.T.Context(), 0))
		s.put(w, s.text, 0)
		s.ok(w.Sync(s.T.Context()))
		s.ok(w.Flush(s.T.Context()))
		s.ok(w.Release())
		s.rm(s.file + "~")
		s.rm(".name.swp")
	},
	"vim, backup by rename": func(s *session) {
		s.make("4913", "")
		s.rm("4913")
		s.mv(s.file, s.file+"~")
		w := s.open(s.T, s.create(s.T, s.path(s.file)))
		s.put(w, s.text, 0)
		s.ok(w.Sync(s.T.Context()))
		s.ok(w.Flush(s.T.Context()))
		s.ok(w.Release())
		s.rm(s.file + "~")
	},
	"mv, install": func(s *session) {
		s.rm(s.file)
		id := s.make(s.file, s.text)
		s.ok(s.SetModTime(s.T.Context(), id, time.Unix(1e9, 0)))
	},
	"patch": func(s *session) {
		s.make(s.file+".osJeLwU", s.text)
		s.mv(s.file+".osJeLwU", s.file)
	},
	"patch -b": func(s *session) {
		s.make(s.file+".osJeLwU", s.text)
		s.mv(s.file, s.file+".orig")
		s.mv(s.file+".osJeLwU", s.file)
		s.rm(s.file + ".orig")
	},
}

// inPlace has the tools that write to the file itself.
var inPlace = []string{"echo", "cp", "rsync --inplace", "vim, backup by copy"}

func TestTools(t *testing.T) {
	for tool, run := range tools {
		for file, v := range map[string]struct{ typ, text, shown string }{
			"id":        {"int", "7007\n", "7007\n"},
			"rate":      {"float", "2.50\n", "2.5\n"},
			"rare":      {"bool", "1\n", "true\n"},
			"name":      {"string", "a b\nc", "a b\nc"},
			"__value__": {"string", "42\n", "42\n"},
		} {
			t.Run(tool+"/"+file, func(t *testing.T) {
				s := &session{T: t, edited: editable(t, weapon()), dir: "Weapon/Item.1", file: file, text: v.text}
				want, id := shown(t, s), s.mustAt(t, s.path(file))
				run(s)
				if slices.Contains(inPlace, tool) && s.mustAt(t, s.path(file)) != id {
					t.Error("the file has another number now")
				}
				want["/"+s.path(file)] = v.typ + " " + v.shown
				differ(t, "after it", kept(shown(t, s)), kept(want))
				s.survives(t)
			})
		}
	}
}

// survives checks the tree after a crash and after a save.
func (e *edited) survives(t fatal) {
	t.Helper()
	want := kept(shown(t, e))
	differ(t, "after a crash", shown(t, e.replayed(t)), want)
	again, err := reopen(e.save(t))
	must(t, err)
	differ(t, "after a save", shown(t, again), want)
}

// A tool that only sets times makes no edit.
func TestTimesAreNoEdits(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, "Weapon/Item/id")
	must(t, e.SetModTime(t.Context(), id, time.Unix(1e9, 0)))
	w := e.open(t, id)
	must(t, w.Flush(t.Context()))
	must(t, w.Release())
	if n := e.draft.Pending(); n != 0 || len(e.log) != 0 {
		t.Errorf("%d edits, %d records", n, len(e.log))
	}
}

// A tool that writes a text that doesn't fit gets an error at write, close or rename, and the
// value stays.
func TestToolsThatFail(t *testing.T) {
	for _, tt := range []struct{ file, text string }{
		{"id", "x\n"},
		{"id", "7.5\n"},
		{"id", "2147483648\n"},
		{"id", "5 6"},
		{"rate", "fast"},
		{"rate", "1e39\n"},
		{"rare", "maybe\n"},
		{"name", "a\x00b\n"},
		{"name", "\xff\n"},
	} {
		t.Run(tt.file+" "+tt.text, func(t *testing.T) {
			e := editable(t, weapon())
			id, want := e.mustAt(t, "Weapon/Item/"+tt.file), shown(t, e)
			if err := e.write(t, id, tt.text); !errors.Is(err, nodes.ErrInvalid) {
				t.Errorf("written: %v", err)
			}
			if len(e.changes) == 0 || e.changes[len(e.changes)-1].ID != id {
				t.Errorf("changes %+v, want one of the file", e.changes)
			}
			must(t, e.write(t, e.create(t, "Weapon/Item/.tmp"), tt.text))
			if err := e.rename(t, "Weapon/Item/.tmp", "Weapon/Item/"+tt.file); !errors.Is(err, nodes.ErrInvalid) {
				t.Errorf("renamed: %v", err)
			}
			must(t, e.remove(t, "Weapon/Item/.tmp"))
			differ(t, "after it", shown(t, e), want)
			if len(e.log) != 0 {
				t.Errorf("%d records", len(e.log))
			}
		})
	}
}
