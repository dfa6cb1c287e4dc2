package sheettree_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/overlay"
	"lorefs/nodes/sheettree"
)

// edited is a draft as sheets and, if a test asks for it, as a tree.
type edited struct {
	*testing.T
	draft *edit.Draft
	*sheettree.Editable
	tree *dctree.Editable
	// logged, if not nil, is called after the draft has logged an edit.
	logged func(record []byte)

	mu      sync.Mutex
	changes map[nodes.Change]bool // of the sheets
	inTree  map[nodes.Change]bool
}

func (e *edited) told(to map[nodes.Change]bool) func(nodes.Change) {
	return func(c nodes.Change) {
		e.mu.Lock()
		defer e.mu.Unlock()
		to[c] = true
	}
}

// was reports whether c was reported since the last call, and forgets all changes.
func (e *edited) was(of map[nodes.Change]bool, c nodes.Change) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := of[c]
	clear(of)
	return was
}

func editSheets(t *testing.T, data []byte, opts sheettree.EditOptions) *edited {
	t.Helper()
	f := dctest.Open(t, data)
	e := &edited{T: t, changes: map[nodes.Change]bool{}, inTree: map[nodes.Change]bool{}}
	d, err := edit.NewDraft(f, func(record []byte) error {
		if e.logged != nil {
			e.logged(record)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := dctree.New(f, dctree.Options{ModTime: modTime})
	if err != nil {
		t.Fatal(err)
	}
	src, err := sheets.New(f, d, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.draft, e.tree = d, dctree.NewEditable(plain, d, dctree.EditOptions{})
	e.Editable = sheettree.NewEditable(sheettree.New(src, sheettree.Options{ModTime: modTime}), d, opts)
	e.Watch(e.told(e.changes))
	e.tree.Watch(e.told(e.inTree))
	return e
}

// items returns a data center with sheets of two names.
func items() []byte {
	root := dctest.Root()
	for i := range 3 {
		sheet := &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "version", Value: float32(i)}}}
		for k := range 3 {
			item := &dctest.Node{Name: "Thing", Keys: []string{"id"}}
			item.Attrs = []dctest.Attr{{Name: "id", Value: 10*i + k}, {Name: "name", Value: fmt.Sprintf("n%d%d", i, k)}}
			sheet.Children = append(sheet.Children, item)
		}
		root.Children = append(root.Children, sheet)
	}
	root.Children = append(root.Children, &dctest.Node{Name: "Other", Attrs: []dctest.Attr{{Name: "a", Value: "x"}}})
	return dctest.Build(dctest.Doc{Root: root}, dctest.Options{})
}

func (e *edited) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// at returns the entry of a path. The entry has no ID if there is none.
func (e *edited) at(path string) nodes.Entry {
	e.Helper()
	entry, _ := at(e.T, e.Editable, path)
	return entry
}

func (e *edited) read(path string) string {
	e.Helper()
	return read(e.T, e.Editable, path)
}

// write writes a file, and makes it first if it doesn't exist.
func (e *edited) write(path, text string) error {
	e.Helper()
	dir, name, ok := strings.Cut(path, "/")
	if !ok {
		dir, name = "", path
	}
	folder := nodes.Entry{ID: nodes.Root}
	if dir != "" {
		folder = e.at(dir)
	}
	entry, err := e.Lookup(e.Context(), folder.ID, name)
	if errors.Is(err, nodes.ErrNotExist) {
		entry, err = e.Create(e.Context(), folder.ID, name)
	}
	if err != nil {
		return err
	}
	w, err := e.OpenWrite(e.Context(), entry.ID)
	e.must(err)
	e.must(w.Truncate(e.Context(), 0))
	_, err = w.WriteAt(e.Context(), []byte(text), 0)
	e.must(err)
	err = w.Flush(e.Context())
	e.must(w.Release())
	return err
}

func (e *edited) rename(dir, from, to string) error {
	e.Helper()
	id := e.at(dir).ID
	return e.Rename(e.Context(), id, from, id, to, nodes.RenameReplace)
}

const header = `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="https://vezel.dev/novadrop/dc/Item Item.xsd"`

func text(version, rest string) string {
	return "<Item " + header + ` version="` + version + `" xmlns="https://vezel.dev/novadrop/dc/Item"` + rest
}

func TestMutable(t *testing.T) {
	opened := func(t *testing.T) nodes.Mutable { return editSheets(t, items(), sheettree.EditOptions{}).Editable }
	nodetest.RunMutable(t, opened, nodetest.Edits{
		Dir: []string{"Item"}, Files: [2]string{"Item-00007.xml", "Item-00009.xml"}, Flat: true,
		Valid:   [2]string{text("5", " />\n"), text("0.5", ">\n    <Thing id=\"7\" name=\"x\" />\n</Item>\n")},
		Invalid: "<Item></Thing>", Kept: true,
	})
	nodetest.RunMutable(t, opened, nodetest.Edits{
		Dir: []string{"Item"}, Files: [2]string{".scratch", "sedAbCdEf"}, Flat: true, Valid: [2]string{"some text", "other"},
	})
}

const schema = `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="https://vezel.dev/novadrop/dc/Item" xmlns:dc="https://vezel.dev/novadrop/dc" targetNamespace="https://vezel.dev/novadrop/dc/Item" elementFormDefault="qualified">
    <xsd:complexType name="Item"><xsd:attribute name="fresh" type="xsd:int" /></xsd:complexType>
    <xsd:element name="Item" type="Item" />
</xsd:schema>`

func TestTreeStaysConform(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	nodetest.Run(t, e.Editable)
	e.must(e.write("Item/Item-00001.xml", text("9", "/>")))
	e.must(e.write("Item/.scratch", "x"))
	e.must(e.rename("Item", "Item-00002.xml", "Item-00008.xml"))
	_, err := e.Mkdir(t.Context(), nodes.Root, "Fresh")
	e.must(err)
	nodetest.Run(t, e.Editable)
	nodetest.Run(t, e.tree)
}

// An edit shows at once in both trees, and both report it to their watchers.
func TestBothTreesShowIt(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	const path = "Item/Item-00000.xml"
	sheet := e.at(path)
	name, _ := at(t, e.tree, "Item/Thing.1/name")
	thing, _ := at(t, e.tree, "Item/Thing.1")
	item, _ := at(t, e.tree, "Item")
	xsd := e.at("Item/Item.xsd")
	save := func(from, to string) {
		t.Helper()
		old := e.read(path)
		if !strings.Contains(old, from) {
			t.Fatalf("%s is not in %s", from, old)
		}
		e.must(e.write(path, strings.Replace(old, from, to, 1)))
	}

	save(`"n01"`, `"other"`)
	if !e.was(e.inTree, nodes.Change{ID: name.ID}) || read(t, e.tree, "Item/Thing.1/name") != "other\n" {
		t.Error("a value that a sheet changes")
	}
	if !e.was(e.changes, nodes.Change{ID: sheet.ID}) || e.at(path).Size != int64(len(e.read(path))) {
		t.Error("the sheet that was changed")
	}
	save(`name="other"`, `name="other" more="1"`)
	if !e.was(e.inTree, nodes.Change{Dir: thing.ID}) || read(t, e.tree, "Item/Thing.1/more") != "1\n" {
		t.Error("an attribute that a sheet adds")
	}
	save(` name="other"`, ``)
	if !e.was(e.inTree, nodes.Change{Dir: thing.ID, Name: "name"}) {
		t.Error("an attribute that a sheet removes")
	}
	if _, there := at(t, e.tree, "Item/Thing.1/name"); there {
		t.Error("the removed attribute is there")
	}
	save(`    <Thing id="1" more="1" />`+"\n", ``)
	if !e.was(e.inTree, nodes.Change{Dir: item.ID, Name: "Thing.1"}) {
		t.Error("a node that a sheet removes")
	}
	if attr, err := e.tree.Attr(t.Context(), thing.ID); err != nil || !attr.Removed {
		t.Errorf("the removed node is %+v, %v", attr, err)
	}
	save(`<Thing id="2"`, `<Thing id="9"/><Thing id="2"`)
	if !e.was(e.inTree, nodes.Change{Dir: item.ID, Name: "Thing.3"}) || read(t, e.tree, "Item/Thing.3/id") != "9\n" {
		t.Error("a node that a sheet adds")
	}
	save(`<Thing id="9" />`, `<Thing id="1"/>`)
	if !e.was(e.inTree, nodes.Change{Dir: item.ID, Name: "Thing.1"}) || read(t, e.tree, "Item/Thing.1/id") != "1\n" {
		t.Error("a removed node that a sheet has again")
	}

	clear(e.changes)
	first, _ := at(t, e.tree, "Item/Thing/name")
	put := func(id nodes.ID, text string) {
		w, err := e.tree.OpenWrite(t.Context(), id)
		e.must(err)
		e.must(w.Truncate(t.Context(), 0))
		_, err = w.WriteAt(t.Context(), []byte(text), 0)
		e.must(err)
		e.must(w.Flush(t.Context()))
		e.must(w.Release())
	}
	put(first.ID, "by the tree")
	if !strings.Contains(e.read(path), `name="by the tree"`) {
		t.Error("a value that the tree changes is not in the sheet")
	}
	if !e.changes[nodes.Change{ID: xsd.ID}] || !e.was(e.changes, nodes.Change{ID: sheet.ID}) {
		t.Error("nobody was told of the sheet that the tree changed")
	}
	_, err := e.tree.Mkdir(t.Context(), nodes.Root, "Item.5")
	e.must(err)
	if folder := e.at("Item"); !e.was(e.changes, nodes.Change{Dir: folder.ID, Name: "Item-00005.xml"}) {
		t.Error("nobody was told of a sheet that the tree made")
	}
	e.must(e.tree.Remove(t.Context(), must(at(t, e.tree, "Other")), "a", nodes.File))
	e.must(e.tree.Remove(t.Context(), nodes.Root, "Other", nodes.Dir))
	if !e.was(e.changes, nodes.Change{Dir: nodes.Root, Name: "Other"}) || e.at("Other").ID != 0 {
		t.Error("nobody was told of a folder that the tree emptied")
	}
}

// An edit by somebody else directly after the edit of a sheet is reported as somebody else's.
func TestOthersEditBehindAChange(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	for i := range 20 {
		var behind sync.WaitGroup
		e.logged = func([]byte) {
			e.logged = nil
			behind.Go(func() {
				_, err := e.tree.Mkdir(t.Context(), nodes.Root, fmt.Sprintf("Item.%d", 5+i))
				if err != nil {
					t.Error(err)
				}
			})
		}
		e.must(e.write("Item/Item-00001.xml", text(fmt.Sprint(9+i), "/>")))
		behind.Wait()
		name := fmt.Sprintf("Item-%05d.xml", 5+i)
		if folder := e.at("Item"); !e.was(e.changes, nodes.Change{Dir: folder.ID, Name: name}) {
			t.Errorf("nobody was told of a sheet that the tree made, %s", name)
		}
	}
}

func must(e nodes.Entry, ok bool) nodes.ID {
	if !ok {
		panic("it is not there")
	}
	return e.ID
}

// A new sheet that is synced before it has a text is no edit yet, and no error either. One that was
// emptied is an error.
func TestNewAndSynced(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	entry, err := e.Create(t.Context(), e.at("Item").ID, "Item-00009.xml")
	e.must(err)
	w, err := e.OpenWrite(t.Context(), entry.ID)
	e.must(err)
	put := func(text string) {
		t.Helper()
		e.must(w.Truncate(t.Context(), 0))
		_, err := w.WriteAt(t.Context(), []byte(text), 0)
		e.must(err)
	}
	e.must(w.Sync(t.Context()))
	put("<It")
	e.must(w.Truncate(t.Context(), 0))
	e.must(w.Sync(t.Context()))
	if n := e.draft.Pending(); n != 0 {
		t.Errorf("%d edits, want none", n)
	}
	put(text("9", "/>"))
	e.must(w.Sync(t.Context()))
	if n := e.draft.Pending(); n == 0 {
		t.Error("no edit")
	}
	e.must(w.Truncate(t.Context(), 0))
	if err := w.Sync(t.Context()); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("sync of an emptied sheet: %v", err)
	}
	put(text("8", "/>"))
	e.must(w.Release())
}

// A temporary file that is renamed to a sheet edits that sheet and does not make a new one. The
// same holds for a file that is written after the old one was renamed away.
func TestEditorsWays(t *testing.T) {
	const path = "Item/Item-00000.xml"
	for name, way := range map[string]func(e *edited, text string){
		"in place": func(e *edited, text string) { e.must(e.write(path, text)) },
		"renamed": func(e *edited, text string) {
			e.must(e.write("Item/sedX", text))
			e.must(e.rename("Item", "sedX", "Item-00000.xml"))
		},
		"backup": func(e *edited, text string) {
			pending := e.draft.Pending()
			e.must(e.rename("Item", "Item-00000.xml", "Item-00000.xml~"))
			if e.at(path).ID != 0 || e.draft.Pending() != pending {
				e.Error("the sheet is there, or gone for good")
			}
			e.must(e.write(path, text))
			e.must(e.Remove(e.Context(), e.at("Item").ID, "Item-00000.xml~", nodes.File))
		},
		"and back": func(e *edited, text string) {
			e.must(e.rename("Item", "Item-00000.xml", "4913"))
			e.must(e.write("Item/4913", text))
			e.must(e.rename("Item", "4913", "Item-00000.xml"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := editSheets(t, items(), sheettree.EditOptions{})
			for i := range 3 {
				old := e.at(path)
				want := strings.Replace(e.read(path), `name="n01`, fmt.Sprintf(`name="n01%d`, i), 1)
				way(e, want)
				if got := e.read(path); got != want {
					t.Fatalf("it is %s", got)
				}
				if n := e.draft.Pending(); n != 1 {
					t.Errorf("%d edits, want 1", n)
				}
				if now := e.at(path); now.ID != old.ID {
					if attr, err := e.Editable.Attr(t.Context(), old.ID); err != nil || !attr.Removed || attr.Size == 0 {
						t.Errorf("the file that was replaced is %+v, %v", attr, err)
					}
					e.Forget(old.ID)
					if _, err := e.Editable.Attr(t.Context(), old.ID); !errors.Is(err, nodes.ErrNotExist) {
						t.Errorf("the file that was forgotten: %v", err)
					}
				}
				if l := e.Loose(); len(l.Scratch)+len(l.Strays)+len(e.Refused()) != 0 {
					t.Errorf("not saved: %+v, %v", l, e.Refused())
				}
			}
			nodetest.Run(t, e.Editable)
		})
	}
}

// A text that is not a sheet is kept, and the sheet stays as it was.
func TestDrafts(t *testing.T) {
	const path = "Item/Item-00000.xml"
	e := editSheets(t, items(), sheettree.EditOptions{})
	good, second := e.read(path), e.read("Item/Item-00001.xml")
	bad := strings.Replace(good, `id="1"`, `id="one"`, 1)
	err := e.write(path, bad)
	const want = `sheets: Item/Item-00000.xml:3:12: Thing id: not a value that a data center can hold: "one" is not an int`
	if !errors.Is(err, nodes.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
		t.Fatalf("the error is %v, want %s", err, want)
	}
	if e.read(path) != bad || e.draft.Pending() != 0 || read(t, e.tree, "Item/Thing.1/id") != "1\n" {
		t.Error("the text is not kept, or the sheet is not as it was")
	}
	id := e.at(path).ID
	if x, err := e.Xattr(t.Context(), id, "user.lorefs.error"); err != nil || !strings.HasPrefix(string(x), want) {
		t.Errorf("user.lorefs.error is %q, %v", x, err)
	}
	if l := e.Loose(); len(l.Scratch)+len(l.Strays) != 0 || len(e.Refused()) != 1 {
		t.Errorf("not saved: %+v, %v", l, e.Refused())
	}
	if err := e.write("Item/tmp", "<Item>"); err != nil {
		t.Fatal(err)
	}
	if err := e.rename("Item", "tmp", "Item-00001.xml"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("rename of what is no sheet: %v", err)
	}
	if e.read("Item/tmp") != "<Item>" {
		t.Error("what can't be renamed is not as it was")
	}
	e.must(e.Remove(t.Context(), e.at("Item").ID, "tmp", nodes.File))
	if r := e.Refused(); len(r) != 2 || r[1].Path != "Item/Item-00001.xml" {
		t.Errorf("refused: %+v", r)
	}
	e.must(e.write("Item/Item-00001.xml", second))
	e.must(e.write(path, good))
	if names, err := e.Xattrs(t.Context(), id); err != nil || len(names) > 0 {
		t.Errorf("the attributes are %v, %v", names, err)
	}
	if r := e.Refused(); len(r) != 0 || e.draft.Pending() != 0 {
		t.Errorf("refused: %+v", r)
	}
}

// Tools that save by renaming remove the file that they can't rename. So its text is kept as
// that of the target.
func TestRefusedRename(t *testing.T) {
	for _, tt := range []struct {
		name, bad, good string
	}{
		{name: "Item/Item-00001.xml", bad: "<Item>", good: `<Item version="8"/>`},
		{name: "Item/Item-00009.xml", bad: `<Item a="1" a="2"/>`, good: `<Item version="9"/>`},
		{name: "Item/Item.xsd", bad: "<xsd", good: schema},
		{name: "Other/Other-00000.xml", bad: `<Else/>`, good: `<Other a="y"/>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := editSheets(t, items(), sheettree.EditOptions{})
			dir, name, _ := strings.Cut(tt.name, "/")
			before := e.at(tt.name)
			e.must(e.write(dir+"/.tmp", tt.bad))
			e.was(e.changes, nodes.Change{})
			err := e.rename(dir, ".tmp", name)
			if !errors.Is(err, nodes.ErrInvalid) {
				t.Fatalf("the error is %v", err)
			}
			now := e.at(tt.name)
			told := nodes.Change{ID: now.ID}
			if before.ID == 0 {
				told = nodes.Change{Dir: e.at(dir).ID, Name: name}
			} else if before.ID != now.ID {
				t.Error("it is another file, though the rename failed")
			}
			if !e.was(e.changes, told) {
				t.Errorf("%+v is not told", told)
			}
			e.must(e.Remove(t.Context(), e.at(dir).ID, ".tmp", nodes.File))
			if got := e.read(tt.name); got != tt.bad || e.draft.Pending() != 0 {
				t.Errorf("it has %q after %d edits", got, e.draft.Pending())
			}
			if x, xerr := e.Xattr(t.Context(), now.ID, "user.lorefs.error"); xerr != nil || string(x) != err.Error() {
				t.Errorf("user.lorefs.error is %q, %v", x, xerr)
			}
			if r := e.Refused(); len(r) != 1 || r[0].Path != tt.name || string(r[0].Text) != tt.bad || r[0].Problem.Error() != err.Error() {
				t.Errorf("refused: %+v", r)
			}
			e.must(e.write(dir+"/.tmp", tt.good))
			e.must(e.rename(dir, ".tmp", name))
			if l := e.Loose(); len(l.Scratch)+len(l.Strays)+len(e.Refused()) != 0 {
				t.Errorf("not saved: %+v, %v", l, e.Refused())
			}
			nodetest.Run(t, e.Editable)
		})
	}
}

// A refused rename replaces neither a text that is being written nor the sheet that the file
// was.
func TestRefusedRenameKeepsOthers(t *testing.T) {
	const path = "Item/Item-00001.xml"
	e := editSheets(t, items(), sheettree.EditOptions{EditOptions: overlay.EditOptions{Limits: overlay.Limits{Text: 1 << 20, Texts: 3000}}})
	w, err := e.OpenWrite(t.Context(), e.at(path).ID)
	e.must(err)
	e.must(w.Truncate(t.Context(), 0))
	_, err = w.WriteAt(t.Context(), []byte("<Item>half"), 0)
	e.must(err)
	e.must(e.write("Item/.tmp", "<Bad"))
	if err := e.rename("Item", ".tmp", "Item-00001.xml"); !errors.Is(err, nodes.ErrInvalid) {
		t.Error(err)
	}
	if got := e.read(path); got != "<Item>half" {
		t.Errorf("what is being written has become %q", got)
	}
	e.must(w.Truncate(t.Context(), 0))
	if err := w.Release(); !errors.Is(err, nodes.ErrInvalid) {
		t.Error(err)
	}
	long := "<Item" + strings.Repeat(" ", 2000)
	e.must(e.write("Item/.tmp", long))
	if err := e.rename("Item", ".tmp", "Item-00000.xml"); !errors.Is(err, nodes.ErrInvalid) {
		t.Error(err)
	}
	if e.read("Item/.tmp") != long || !strings.Contains(e.read("Item/Item-00000.xml"), "n00") {
		t.Error("there is no room for two, and one has gone")
	}
	e.must(e.Remove(t.Context(), e.at("Item").ID, ".tmp", nodes.File))
	e.must(e.write("Item/Item.xsd", schema))
	e.must(e.write("Item/.tmp", "<xsd"))
	if err := e.rename("Item", ".tmp", "Item.xsd"); !errors.Is(err, nodes.ErrInvalid) {
		t.Error(err)
	}
	if e.read("Item/Item.xsd") != schema {
		t.Error("a schema that is nowhere else is lost")
	}
	if r := e.Refused(); r[0].Path != "Item/.tmp" || string(r[0].Text) != "<xsd" {
		t.Errorf("refused: %+v", r)
	}
}

// The inferred schema goes with the last sheet. A written one stays, and so does one that is
// being written.
func TestSchemaWithoutSheets(t *testing.T) {
	for name, write := range map[string]func(e *edited) (end func() error){
		"refused": func(e *edited) func() error {
			err := e.write("Other/Other.xsd", "<xsd")
			return func() error { return err }
		},
		"half written": func(e *edited) func() error {
			w, err := e.OpenWrite(e.Context(), e.at("Other/Other.xsd").ID)
			e.must(err)
			e.must(w.Truncate(e.Context(), 0))
			_, err = w.WriteAt(e.Context(), []byte("<xsd"), 0)
			e.must(err)
			return w.Release
		},
	} {
		for by, remove := range map[string]func(e *edited) error{
			"tree": func(e *edited) error { return e.tree.Remove(e.Context(), nodes.Root, "Other", nodes.Dir) },
			"sheet": func(e *edited) error {
				return e.Remove(e.Context(), e.at("Other").ID, "Other-00000.xml", nodes.File)
			},
		} {
			t.Run(name+" "+by, func(t *testing.T) {
				e := editSheets(t, items(), sheettree.EditOptions{})
				end := write(e)
				e.must(e.tree.Remove(t.Context(), must(at(t, e.tree, "Other")), "a", nodes.File))
				e.must(remove(e))
				if got := e.read("Other/Other.xsd"); got != "<xsd" {
					t.Errorf("the schema is %q", got)
				}
				if err := end(); !errors.Is(err, nodes.ErrInvalid) {
					t.Errorf("a schema that is none: %v", err)
				}
				nodetest.Run(t, e.Editable)
				e.must(e.Remove(t.Context(), e.at("Other").ID, "Other.xsd", nodes.File))
				if e.at("Other/Other.xsd").ID != 0 || len(e.Refused()) != 0 {
					t.Errorf("what was removed is there: %v", e.Refused())
				}
				e.must(e.Remove(t.Context(), nodes.Root, "Other", nodes.Dir))
			})
		}
	}
}

// A sheet that can't become a schema stays a sheet, and no other file shows its text.
func TestRefusedSheetAsSchema(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	sheet, types := e.read("Item/Item-00001.xml"), e.read("Item/Item.xsd")
	if err := e.rename("Item", "Item-00001.xml", "Item.xsd"); !errors.Is(err, nodes.ErrInvalid) {
		t.Error(err)
	}
	if e.read("Item/Item-00001.xml") != sheet || e.read("Item/Item.xsd") != types || len(e.Refused()) != 0 {
		t.Errorf("refused: %+v", e.Refused())
	}
}

// A sheet whose file was renamed away and edited, and can't be renamed back, stays as it was.
// The text is kept, too, whatever the tool removes then.
func TestRefusedSheetStays(t *testing.T) {
	const name, path, bad = "Item-00001.xml", "Item/Item-00001.xml", "<Item"
	for _, tt := range []struct {
		name string
		do   func(e *edited) error // the last step is refused
		want string                // a path that must have the text
	}{
		{"renamed back", func(e *edited) error {
			e.must(e.rename("Item", name, "work"))
			e.must(e.write("Item/work", bad))
			return e.rename("Item", "work", name)
		}, "Item/work"},
		{"written anew", func(e *edited) error {
			e.must(e.rename("Item", name, name+"~"))
			return e.write(path, bad)
		}, path},
		{"and the backup removed", func(e *edited) error {
			e.must(e.rename("Item", name, name+"~"))
			err := e.write(path, bad)
			e.must(e.Remove(e.Context(), e.at("Item").ID, name+"~", nodes.File))
			return err
		}, path},
		{"renamed back, and removed", func(e *edited) error {
			e.must(e.rename("Item", name, "work"))
			e.must(e.write("Item/work", bad))
			err := e.rename("Item", "work", name)
			e.must(e.Remove(e.Context(), e.at("Item").ID, "work", nodes.File))
			return err
		}, path},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := editSheets(t, items(), sheettree.EditOptions{})
			if err := tt.do(e); !errors.Is(err, nodes.ErrInvalid) {
				t.Fatal(err)
			}
			nodetest.Run(t, e.Editable)
			if got := e.read(tt.want); got != bad {
				t.Errorf("%s has %q", tt.want, got)
			}
			if r := e.Refused(); len(r) == 0 || string(r[0].Text) != bad {
				t.Errorf("refused: %+v", r)
			}
			e.must(e.RemoveHidden(t.Context()))
			if read(t, e.tree, "Item.1/Thing/name") != "n10\n" || e.draft.Pending() != 0 {
				t.Errorf("the sheet is not as it was, after %d edits", e.draft.Pending())
			}
			e.must(e.write(path, `<Item version="9"><Thing id="1" name="good"/></Item>`))
			if read(t, e.tree, "Item.1/Thing/name") != "good\n" {
				t.Error("a good text does not become the sheet")
			}
			nodetest.Run(t, e.Editable)
		})
	}
}

// Sheets and their folders are made and removed.
func TestNewAndGone(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	e.must(e.write("Item/Item-00007.xml", `<Item version="7"><Thing id="5" name="6"/></Item>`))
	if got := read(t, e.tree, "Item.7/Thing/name"); got != "6\n" {
		t.Errorf("the new sheet has %q", got)
	}
	if x, err := e.tree.Xattr(t.Context(), must(at(t, e.tree, "Item.7/Thing")), "user.lorefs.keys"); err != nil || string(x) != "id" {
		t.Errorf("its keys are %q, %v", x, err)
	}
	_, err := e.Mkdir(t.Context(), nodes.Root, "Fresh")
	e.must(err)
	made := e.at("Fresh")
	e.must(e.write("Fresh/Fresh.xsd", strings.ReplaceAll(schema, "Item", "Fresh")))
	e.must(e.write("Fresh/Fresh-00000.xml", `<Fresh fresh="5" other="x"/>`))
	if now := e.at("Fresh"); now.ID != made.ID {
		t.Error("the folder is another one")
	}
	e.must(e.write("Fresh/Fresh.xsd", strings.ReplaceAll(strings.ReplaceAll(schema, "Item", "Fresh"), "int", "string")))
	if err := e.write("Fresh/Fresh.xsd", "<xsd"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("a schema that is none: %v", err)
	}
	for name, want := range map[string]error{
		"Item/Item-7.xml": nodes.ErrInvalid, "Item/Other-00000.xml": nodes.ErrInvalid, "Sheet.xml": nodes.ErrInvalid,
		"Item/notes.txt": nil, "Item/.x.xml": nil, "DataCenter.xsd": nil, "Other/Other-00003.xml": nodes.ErrInvalid,
	} {
		if err := e.write(name, "anything"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := e.Mkdir(t.Context(), e.at("Item").ID, "Deeper"); !errors.Is(err, nodes.ErrNotPermitted) {
		t.Errorf("a folder in a folder: %v", err)
	}
	if _, err := e.Mkdir(t.Context(), nodes.Root, "a.1"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("a folder of no sheets: %v", err)
	}
	e.removeAll("Item")
	if _, there := at(t, e.tree, "Item.7"); there || e.at("Item").ID != 0 {
		t.Error("what was removed is there")
	}
	if err := e.Rename(t.Context(), nodes.Root, "Fresh", nodes.Root, "Again", nodes.RenameReplace); !errors.Is(err, nodes.ErrNotPermitted) {
		t.Errorf("rename of a folder of sheets: %v", err)
	}
}

// removeAll does what rm -r does.
func (e *edited) removeAll(folder string) {
	e.Helper()
	id := e.at(folder).ID
	for entry, err := range e.ReadDir(e.Context(), id, 0) {
		e.must(err)
		e.must(e.Remove(e.Context(), id, entry.Name, nodes.File))
	}
	e.must(e.Remove(e.Context(), nodes.Root, folder, nodes.Dir))
}

// refused returns an error unless err is a refusal.
func refused(err error) error {
	if errors.Is(err, nodes.ErrInvalid) {
		return nil
	}
	return fmt.Errorf("it is not refused: %w", err)
}

// An edit of an inferred schema must not change a sheet, though its family may have the same
// number as a sheet.
func TestInferredSchemaIsNoSheet(t *testing.T) {
	for name, do := range map[string]func(e *edited, family string) error{
		"remove": func(e *edited, family string) error {
			return e.Remove(e.Context(), e.at(family).ID, family+".xsd", nodes.File)
		},
		"rename": func(e *edited, family string) error { return e.rename(family, family+".xsd", ".away") },
		"rename over": func(e *edited, family string) error {
			e.must(e.write(family+"/.scratch", "x"))
			return e.rename(family, family+".xsd", ".scratch")
		},
		"rename to a sheet": func(e *edited, family string) error {
			return refused(e.rename(family, family+".xsd", family+"-00077.xml"))
		},
		"exchange": func(e *edited, family string) error {
			e.must(e.write(family+"/.scratch", "x"))
			id := e.at(family).ID
			return refused(e.Rename(e.Context(), id, family+".xsd", id, ".scratch", nodes.RenameExchange))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := editSheets(t, items(), sheettree.EditOptions{})
			paths := []string{"Item/Item-00000.xml", "Item/Item-00001.xml", "Item/Item-00002.xml", "Other/Other-00000.xml"}
			before := map[string]string{}
			for _, path := range paths {
				before[path] = e.read(path)
			}
			for _, family := range []string{"Item", "Other"} {
				if err := do(e, family); err != nil {
					t.Errorf("%s: %v", family, err)
				}
			}
			if n := e.draft.Pending(); n != 0 {
				t.Errorf("%d edits", n)
			}
			for _, path := range paths {
				if got := e.read(path); got != before[path] {
					t.Errorf("%s is %s", path, got)
				}
			}
		})
	}
}

// The memory of texts is limited.
func TestLimits(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{EditOptions: overlay.EditOptions{Limits: overlay.Limits{Text: 1000, Texts: 2500}}})
	folder := e.at("Item").ID
	write := func(name string, size int) error {
		f, err := e.Create(t.Context(), folder, name)
		e.must(err)
		w, err := e.OpenWrite(t.Context(), f.ID)
		e.must(err)
		_, err = w.WriteAt(t.Context(), make([]byte, size), 0)
		e.must(w.Release())
		return err
	}
	if err := write(".large", 1001); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("a large text: %v", err)
	}
	e.must(write(".a", 900))
	e.must(write(".b", 900))
	if err := write(".c", 900); !errors.Is(err, nodes.ErrNoSpace) {
		t.Errorf("many texts: %v", err)
	}
	e.must(e.Remove(t.Context(), folder, ".a", nodes.File))
	e.must(write(".d", 900))
}

// A sheet that was renamed away and not written again is removed by a save, and not earlier.
func TestSaveWithoutHidden(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	e.must(e.rename("Item", "Item-00001.xml", "Item-00001.xml~"))
	e.must(e.RemoveHidden(t.Context()))
	if _, there := at(t, e.tree, "Item.1"); there {
		t.Error("it is there")
	}
	if !strings.Contains(e.read("Item/Item-00001.xml~"), "n10") {
		t.Error("the scratch file is not as it was")
	}
}

// The edits of one text have to fit into one record.
func TestMaxRecord(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{MaxRecord: 100})
	var long strings.Builder
	for i := range 20 {
		fmt.Fprintf(&long, `<Thing id="%d" name="x"/>`, i)
	}
	if err := e.write("Item/Item-00008.xml", text("1", ">"+long.String()+"</Item>")); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("a long record: %v", err)
	}
	e.must(e.write("Item/Item-00008.xml", text("1", "/>")))
}

// An attribute that is open in the tree becomes a removed file when a sheet removes it.
func TestOpenInTheTree(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	const path = "Item/Item-00000.xml"
	name, _ := at(t, e.tree, "Item/Thing.1/name")
	w, err := e.tree.OpenWrite(t.Context(), name.ID)
	e.must(err)
	e.must(e.write(path, strings.Replace(e.read(path), ` name="n01"`, "", 1)))
	if attr, err := e.tree.Attr(t.Context(), name.ID); err != nil || !attr.Removed {
		t.Errorf("the open file is %+v, %v", attr, err)
	}
	_, err = w.WriteAt(t.Context(), []byte("new"), 0)
	e.must(err)
	e.must(w.Flush(t.Context()))
	e.must(w.Release())
	if strings.Contains(e.read(path), "new") {
		t.Error("what was removed is back")
	}
}

// Both trees are edited at once, for the race detector.
func TestConcurrent(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			for i := range 15 {
				path := fmt.Sprintf("Item/Item-%05d.xml", n)
				if err := e.write(path, text(fmt.Sprint(i), fmt.Sprintf(`><Thing id="%d" name="%d"/></Item>`, i, n))); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			dir, _ := at(t, e.tree, "Item")
			for i := range 15 {
				name := fmt.Sprintf("made%d", n)
				_, err := e.tree.Mkdir(t.Context(), dir.ID, name)
				// The sheet may have been written without this node before its entry was read.
				if err != nil && !errors.Is(err, nodes.ErrExist) && !errors.Is(err, nodes.ErrNotExist) {
					t.Error(i, err)
				}
				if err := e.tree.Remove(t.Context(), dir.ID, name, nodes.Dir); err != nil && !errors.Is(err, nodes.ErrNotExist) {
					t.Error(i, err)
				}
			}
		})
	}
	wg.Wait()
	nodetest.Run(t, e.Editable)
	nodetest.Run(t, e.tree)
}

// TestRevert checks that both trees show what was taken back, under the numbers that it had, also
// to those who have it open.
func TestRevert(t *testing.T) {
	e := editSheets(t, items(), sheettree.EditOptions{})
	const path, unlinked = "Item/Item-00000.xml", "Item/Item-00002.xml"
	inTree := []string{"Item", "Item/Thing", "Item/Thing/name", "Item/Thing.1", "Item/Thing.1/name", "Item/Thing.2/name", "Item.2", "Item.2/Thing/id", "Other", "Other/a"}
	inSheets := []string{path, unlinked, "Other/Other-00000.xml"}
	find := func() (ids []nodes.ID, texts []string) {
		for _, p := range inTree {
			entry, there := at(t, e.tree, p)
			if !there {
				t.Fatalf("%s is not there", p)
			}
			text := ""
			if entry.Kind == nodes.File {
				text = read(t, e.tree, p)
			}
			ids, texts = append(ids, entry.ID), append(texts, text)
		}
		for _, p := range inSheets {
			ids, texts = append(ids, e.at(p).ID), append(texts, e.read(p))
		}
		return ids, texts
	}
	ids, texts := find()
	var open []nodes.Writer
	for i, p := range inTree {
		if texts[i] != "" {
			w, err := e.tree.OpenWrite(t.Context(), ids[i])
			if err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			open = append(open, w)
		}
	}
	sheet, err := e.OpenWrite(t.Context(), ids[len(ids)-2])
	e.must(err)

	old := e.read(path)
	for _, r := range []struct{ from, to string }{
		{` name="n00"`, ``}, {` name="n02"`, ` name="other"`}, {`    <Thing id="1" name="n01" />` + "\n", ``},
	} {
		if !strings.Contains(old, r.from) {
			t.Fatalf("%q is not in\n%s", r.from, old)
		}
		old = strings.Replace(old, r.from, r.to, 1)
	}
	e.must(e.write(path, old))
	e.must(e.Remove(t.Context(), e.at("Item").ID, "Item-00002.xml", nodes.File))
	e.must(e.tree.Remove(t.Context(), must(at(t, e.tree, "Other")), "a", nodes.File))
	e.must(e.tree.Remove(t.Context(), nodes.Root, "Other", nodes.Dir))
	if n := e.draft.Pending(); n != 5 {
		t.Errorf("%d edits", n)
	}
	for _, i := range []int{2, 3, 4, 6, 8, 9} {
		if attr, err := e.tree.Attr(t.Context(), ids[i]); err != nil || !attr.Removed {
			t.Errorf("%s is %+v, %v", inTree[i], attr, err)
		}
	}
	clear(e.changes)
	clear(e.inTree)

	taken, err := e.draft.Revert(t.Context(), nil, []edit.Target{{}})
	if err != nil || taken != 5 || e.draft.Pending() != 0 {
		t.Fatalf("%d were taken back, %v", taken, err)
	}
	nowIDs, nowTexts := find()
	for i, p := range append(inTree, inSheets...) {
		if nowIDs[i] != ids[i] || nowTexts[i] != texts[i] {
			t.Errorf("%s is %v with %q, and was %v with %q", p, nowIDs[i], nowTexts[i], ids[i], texts[i])
		}
		tree, told := nodes.Tree(e.tree), e.inTree
		if i >= len(inTree) {
			tree, told = e.Editable, e.changes
		}
		attr, err := tree.Attr(t.Context(), ids[i])
		if err != nil || attr.Removed || texts[i] != "" && attr.Size != int64(len(texts[i])) {
			t.Errorf("%s is %+v, %v", p, attr, err)
		}
		if p != "Item" && p != "Item/Thing" && p != "Item.2/Thing/id" && !told[nodes.Change{ID: ids[i]}] && p != "Item.2" {
			t.Errorf("nobody was told of %s", p)
		}
	}
	for _, w := range append(open, sheet) {
		e.must(w.Flush(t.Context()))
		e.must(w.Release())
	}
	if n := e.draft.Pending(); n != 0 {
		t.Errorf("%d edits by those who had it open", n)
	}
	for i, p := range inTree {
		if texts[i] == "" {
			continue
		}
		w, err := e.tree.OpenWrite(t.Context(), ids[i])
		if err != nil {
			t.Errorf("%s can't be opened any more: %v", p, err)
			continue
		}
		e.must(w.Release())
	}
}

// A program that starts another one while it writes a sheet has half of the text put, and refused. It
// goes on with all of it.
func TestHalfIsFlushed(t *testing.T) {
	const path = "Item/Item-00001.xml"
	e := editSheets(t, items(), sheettree.EditOptions{})
	whole := text("9", "/>\n")
	w, err := e.OpenWrite(t.Context(), e.at(path).ID)
	e.must(err)
	e.must(w.Truncate(t.Context(), 0))
	half := len(whole) / 2
	for i, part := range []string{whole[:half], whole[half:]} {
		_, err := w.WriteAt(t.Context(), []byte(part), int64(i*half))
		e.must(err)
		if err := w.Flush(t.Context()); (err != nil) != (i == 0) {
			t.Errorf("part %d: %v", i, err)
		}
	}
	e.must(w.Release())
	if got := e.read(path); got != text("9", " />\n") || len(e.Refused()) > 0 {
		t.Errorf("it holds %s, refused: %v", got, e.Refused())
	}
}

// A text that drops many nodes takes a moment, not the square of it, though another tree forgets all
// of them.
func TestManyGone(t *testing.T) {
	testneeds.Seconds(t)
	const path, many = "Item/Item-00000.xml", 30_000
	e := editSheets(t, items(), sheettree.EditOptions{})
	var b strings.Builder
	b.WriteString(">\n")
	for i := range many {
		fmt.Fprintf(&b, "    <Thing id=\"%d\" />\n", i)
	}
	b.WriteString("</Item>\n")
	e.must(e.write(path, text("0", b.String())))
	if _, there := at(t, e.tree, fmt.Sprintf("Item/Thing.%d", many-1)); !there {
		t.Fatal("the nodes are not there")
	}
	e.must(e.write(path, text("0", "/>")))
	if _, there := at(t, e.tree, "Item/Thing"); there {
		t.Error("the nodes are there")
	}
}
