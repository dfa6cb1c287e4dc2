package dctree_test

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/nodes"
)

// This is a simple model of an editable tree: directories with maps, and the rules for types,
// scratch files and values in the order in which they apply.

// item is a directory or a file.
type item struct {
	id      nodes.ID
	dir     bool
	parent  *item
	name    string
	removed bool

	// For a directory: kids is what it shows, types has the types of its former attributes, and
	// hidden has the hidden attributes, which are scratch files now.
	kids   map[string]*item
	types  map[string]datacenter.Type
	hidden map[string]*item

	// For a file: an attribute has a value, which is shown with a newline unless bare is set. If
	// dirty is set, or the file is not an attribute, it shows data.
	attr                bool
	val                 datacenter.Value
	bare                bool
	data                string
	dirty, cut, refused bool
	typ                 datacenter.Type
	// undecided says that the file became an attribute without a text, and is still open.
	undecided bool
	writers   int
}

func (n *item) shown() string {
	switch {
	case !n.attr || n.dirty:
		return n.data
	case n.bare:
		return n.val.Text()
	}
	return n.val.Text() + "\n"
}

// show makes v the value, in place of what was written.
func (n *item) show(v datacenter.Value) {
	n.bare = v.Type() == datacenter.String && !strings.HasSuffix(n.data, "\n")
	n.val, n.attr, n.typ, n.undecided = v, true, 0, false
	n.dirty, n.cut, n.refused = false, false, false
}

// revert drops what was written.
func (n *item) revert() {
	n.dirty, n.cut, n.refused = false, false, false
	n.data = ""
	if n.attr {
		n.typ = 0
	}
}

func isScratchName(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~")
}

// modelNames has the file names that the model knows, and what each can be: an attribute called
// plain, or a node called plain with an ordinal.
var modelNames = []struct {
	file, plain string
	attribute   bool
	node        bool
	ordinal     int
}{
	{"a", "a", true, true, 0},
	{"@a", "a", true, false, 0},
	{"b", "b", true, true, 0},
	{"@b", "b", true, false, 0},
	{"s", "s", true, true, 0},
	{"f", "f", true, true, 0},
	{"__value__", "__value__", true, false, 0},
	{"C", "C", true, true, 0},
	{"C.1", "C", false, true, 1},
	{"C.7", "C", false, true, 7},
	{"K", "K", true, true, 0},
	{"K.1", "K", false, true, 1},
	{"S", "S", true, true, 0},
	{"T", "T", true, true, 0},
	{"n%2Ew", "n%2Ew", false, false, 0},
	{"n%25", "n%", true, true, 0},
	{"@C.1", "", false, false, 0},
	{"C.0", "", false, false, 0},
	{"__root__", "", false, false, 0},
	{".x", "", false, false, 0},
	{"y~", "", false, false, 0},
}

// nameAt returns what a file name can be. The document of the model has no other names.
func nameAt(file string) (plain string, attribute, node bool, ordinal int) {
	for _, n := range modelNames {
		if n.file == file {
			return n.plain, n.attribute, n.node, n.ordinal
		}
	}
	panic("no such name in the model: " + file)
}

// modelDoc returns the document of the model. All its names are in modelNames.
func modelDoc() dctest.Doc {
	shared := []*dctest.Node{
		{Name: "K", Attrs: []dctest.Attr{{Name: "b", Value: 1}}},
		{Name: "a", Attrs: []dctest.Attr{dctest.Text("x")}},
	}
	return dctest.Doc{Root: dctest.Root(
		&dctest.Node{Name: "S", Children: []*dctest.Node{
			{Name: "C", Attrs: []dctest.Attr{{Name: "a", Value: 1}, {Name: "s", Value: "w"}, {Name: "f", Value: float32(0.5)}}, Children: shared},
			{Name: "C", Attrs: []dctest.Attr{{Name: "a", Value: 2}}, Children: shared},
		}},
		&dctest.Node{Name: "T", Children: []*dctest.Node{{Name: "K", Attrs: []dctest.Attr{{Name: "b", Value: true}, {Name: "s", Value: ""}}}}},
	)}
}

// modelTypes has the types on the paths of modelDoc.
var modelTypes = map[string]datacenter.Type{
	"/S/C/a": datacenter.Int, "/S/C/s": datacenter.String, "/S/C/f": datacenter.Float,
	"/S/C/K/b": datacenter.Int, "/T/K/b": datacenter.Bool, "/T/K/s": datacenter.String,
}

// spelled is the inverse of nameAt.
func spelled(plain string) string { return strings.ReplaceAll(plain, "%", "%25") }

// typePath returns the path of a directory in modelTypes.
func (n *item) typePath() string {
	if n.parent == nil {
		return ""
	}
	plain, _, _, _ := nameAt(n.name)
	return n.parent.typePath() + "/" + plain
}

// attribute returns the visible attribute with a name, in either spelling.
func (n *item) attribute(plain string) *item {
	for _, mark := range []string{"", "@"} {
		if f := n.kids[mark+spelled(plain)]; f != nil && !f.dir {
			return f
		}
	}
	return nil
}

// typeAt returns the type that an attribute has to have; 0 is any.
func (n *item) typeAt(plain string) datacenter.Type {
	if plain == "__value__" {
		return datacenter.String
	}
	if f := n.hidden[plain]; f != nil {
		return f.val.Type()
	}
	if f := n.attribute(plain); f != nil && f.attr {
		return f.val.Type()
	}
	return n.typeOfNew(plain)
}

// typeOfNew is typeAt for an attribute that is not there.
func (n *item) typeOfNew(plain string) datacenter.Type {
	return cmp.Or(n.types[plain], modelTypes[n.typePath()+"/"+plain])
}

// wants returns the type that the text of a file has to have.
func (n *item) wants() datacenter.Type {
	plain, _, _, _ := nameAt(n.name)
	if n.undecided && plain != "__value__" {
		return cmp.Or(n.typ, n.parent.typeOfNew(plain))
	}
	return cmp.Or(n.typ, n.parent.typeAt(plain))
}

// valueFor reads the text of a file as a value of a type. The error is ErrInvalid if it is none.
func valueFor(t datacenter.Type, plain, text string) (v datacenter.Value, err error) {
	text = strings.TrimSuffix(text, "\n")
	if t == 0 {
		v, err = datacenter.InferValue(text)
	} else {
		v, err = datacenter.ParseValue(t, text)
	}
	if err != nil || (plain == "__value__" && v.Type() != datacenter.String) {
		return v, nodes.ErrInvalid
	}
	return v, nil
}

// newAttribute returns why there can't be a file with a name.
func (n *item) newAttribute(name string) (plain string, err error) {
	plain, attribute, _, _ := nameAt(name)
	other := "@" + name
	if name[0] == '@' {
		other = name[1:]
	}
	switch f := n.kids[other]; {
	case !attribute:
		return "", nodes.ErrInvalid
	case n.parent == nil:
		return "", nodes.ErrNotPermitted
	case f != nil && !f.dir && n.kids[name] == nil:
		return "", nodes.ErrExist
	}
	return plain, nil
}

func (n *item) below(top *item) bool {
	for ; n != nil; n = n.parent {
		if n == top {
			return true
		}
	}
	return false
}

// commit makes the text of a file its value, as close(2) does.
func (n *item) commit() error {
	if n.removed || isScratchName(n.name) {
		n.dirty, n.cut, n.refused = false, false, false
		return nil
	}
	plain, _, _, _ := nameAt(n.name)
	v, err := valueFor(n.wants(), plain, n.data)
	if err != nil {
		n.revert()
		return err
	}
	delete(n.parent.hidden, plain)
	n.show(v)
	return nil
}

func (n *item) flush() error {
	switch {
	case n.dirty && n.refused:
		n.revert()
		return nodes.ErrInvalid
	case n.dirty && !n.cut:
		return n.commit()
	case n.dirty, n.isNew():
		n.putEmpty()
	}
	return nil
}

// isNew reports whether the file becomes an attribute when it is closed without a text.
func (n *item) isNew() bool {
	return !n.attr && !n.removed && !isScratchName(n.name) && n.data == ""
}

// putEmpty makes an empty text the value, if it can be. More may be written to it.
func (n *item) putEmpty() {
	plain, _, _, _ := nameAt(n.name)
	if n.removed || isScratchName(n.name) {
		return
	}
	v, err := valueFor(n.wants(), plain, "")
	if err != nil {
		return
	}
	undecided, typ := n.undecided || !n.attr && n.parent.hidden[plain] == nil, n.typ
	delete(n.parent.hidden, plain)
	n.data = ""
	n.show(v)
	if undecided {
		n.undecided, n.typ = true, typ
	}
}

func (n *item) release() error {
	n.writers--
	if n.writers > 0 {
		return nil
	}
	err := n.last()
	if n.undecided {
		n.undecided, n.typ = false, 0
	}
	return err
}

func (n *item) last() error {
	switch {
	case n.dirty && n.refused:
		n.revert()
		return nodes.ErrInvalid
	case n.dirty, n.isNew():
		return n.commit()
	}
	return nil
}

// unlink removes a file from its directory.
func (n *item) unlink() {
	n.data = n.shown()
	plain, _, _, _ := nameAt(n.name)
	if n.attr {
		n.parent.types[plain] = n.val.Type()
	}
	n.forgo()
	delete(n.parent.kids, n.name)
	n.attr, n.dirty, n.cut, n.refused, n.undecided, n.removed = false, false, false, false, false, true
}

// forgo removes the attribute that a scratch file hides.
func (n *item) forgo() {
	if n.parent == nil {
		return
	}
	top := n.parent
	for top.parent != nil {
		top = top.parent
	}
	top.each(func(d *item) {
		for plain, by := range d.hidden {
			if by == n {
				d.types[plain] = n.val.Type()
				delete(d.hidden, plain)
			}
		}
	})
}

func (n *item) each(visit func(dir *item)) {
	visit(n)
	for _, k := range n.kids {
		if k.dir {
			k.each(visit)
		}
	}
}

// put puts a file or directory into a directory.
func (n *item) put(k *item, name string) {
	k.parent, k.name = n, name
	n.kids[name] = k
}

// remove models Remove.
func (n *item) remove(name string, kind nodes.Kind) error {
	k := n.kids[name]
	switch {
	case n.removed, k == nil:
		return nodes.ErrNotExist
	case kind == nodes.File && k.dir:
		return nodes.ErrIsDir
	case kind == nodes.Dir && !k.dir:
		return nodes.ErrNotDir
	case k.dir && len(k.kids) > 0:
		return nodes.ErrNotEmpty
	case k.dir:
		delete(n.kids, name)
		k.removed = true
	default:
		k.unlink()
	}
	return nil
}

// rename models Rename.
func (n *item) rename(name string, to *item, toName string, mode nodes.RenameMode) error {
	from, at := n.kids[name], to.kids[toName]
	switch {
	case n.removed, to.removed, from == nil:
		return nodes.ErrNotExist
	case at != nil && mode == nodes.RenameKeep:
		return nodes.ErrExist
	case from == at:
		return nil
	case mode == nodes.RenameExchange:
		return from.exchange(at)
	case at != nil && at.dir && !from.dir:
		return nodes.ErrIsDir
	case at != nil && !at.dir && from.dir:
		return nodes.ErrNotDir
	case from.dir:
		return from.moveDir(to, toName, at)
	case isScratchName(toName):
		from.moveAside(to, toName, at)
		return nil
	}
	return from.moveFile(to, toName, at)
}

func (n *item) moveDir(to *item, name string, at *item) error {
	_, _, node, _ := nameAt(name)
	switch {
	case !node && !isScratchName(name):
		return nodes.ErrInvalid
	case at != nil && len(at.kids) > 0:
		return nodes.ErrNotEmpty
	case to.below(n):
		return nodes.ErrInvalid
	case isScratchName(name):
		return nodes.ErrNotPermitted
	}
	if at != nil {
		at.removed = true
	}
	delete(n.parent.kids, n.name)
	to.put(n, name)
	return nil
}

// moveAside models a Rename to a scratch file, which hides the attribute.
func (n *item) moveAside(to *item, name string, at *item) {
	if at != nil {
		at.unlink()
	}
	if n.attr {
		n.data = n.shown()
		plain, _, _, _ := nameAt(n.name)
		n.typ = n.val.Type()
		n.parent.hidden[plain] = n
		n.attr, n.undecided = false, false
	}
	delete(n.parent.kids, n.name)
	to.put(n, name)
}

// pending reports whether the file is to be an attribute that a scratch file hides, and nothing
// was written so far.
func (n *item) pending() bool {
	plain, _, _, _ := nameAt(n.name)
	return !n.attr && !n.refused && !isScratchName(n.name) && n.parent.hidden[plain] != nil
}

func (n *item) moveFile(to *item, name string, at *item) error {
	plain, err := to.newAttribute(name)
	if err != nil {
		return err
	}
	if n.pending() {
		return nodes.ErrNotPermitted
	}
	own := n.typ
	if n.attr {
		own = n.wants()
	}
	text := n.shown()
	v, err := valueFor(cmp.Or(to.typeAt(plain), own), plain, text)
	if err != nil {
		return err
	}
	if n.attr {
		was, _, _, _ := nameAt(n.name)
		n.parent.types[was] = own
	}
	n.forgo()
	if at != nil {
		at.unlink()
	}
	delete(n.parent.kids, n.name)
	delete(to.hidden, plain)
	to.put(n, name)
	n.data = text
	n.show(v)
	return nil
}

func (n *item) exchange(at *item) error {
	switch {
	case at == nil:
		return nodes.ErrNotExist
	case n.dir && at.dir:
		if n.below(at) || at.below(n) {
			return nodes.ErrInvalid
		}
	case n.dir || at.dir || !n.attr || !at.attr:
		return nodes.ErrInvalid
	default:
		if err := n.exchangeValues(at); err != nil {
			return err
		}
	}
	fp, fn := n.parent, n.name
	at.parent.put(n, at.name)
	fp.put(at, fn)
	return nil
}

func (n *item) exchangeValues(at *item) error {
	here, _, _, _ := nameAt(n.name)
	there, _, _, _ := nameAt(at.name)
	v, err := valueFor(at.parent.typeAt(there), there, n.shown())
	if err != nil {
		return err
	}
	w, err := valueFor(n.parent.typeAt(here), here, at.shown())
	if err != nil {
		return err
	}
	n.data, at.data = n.shown(), at.shown()
	n.show(v)
	at.show(w)
	return nil
}

// saved adds the paths of the saved tree to all: without scratch files, with consecutive
// ordinals, and with @ where a node has the name.
func (n *item) saved(path string, all map[string]string) {
	values := map[string]datacenter.Value{}
	for plain, f := range n.hidden {
		values[plain] = f.val
	}
	siblings := map[string][]*item{}
	for _, k := range n.kids {
		switch plain, _, _, _ := nameAt(k.name); {
		case k.dir:
			siblings[plain] = append(siblings[plain], k)
		case k.attr:
			values[plain] = k.val
		}
	}
	for plain, v := range values {
		name := spelled(plain)
		if siblings[plain] != nil {
			name = "@" + name
		}
		all[path+"/"+name] = v.Type().String() + " " + v.Text() + "\n"
	}
	for plain, kids := range siblings {
		slices.SortFunc(kids, func(x, y *item) int {
			_, _, _, i := nameAt(x.name)
			_, _, _, j := nameAt(y.name)
			return cmp.Compare(i, j)
		})
		for i, k := range kids {
			name := spelled(plain)
			if i > 0 {
				name += "." + strconv.Itoa(i)
			}
			all[path+"/"+name] = "keys "
			k.saved(path+"/"+name, all)
		}
	}
}

// writeAt models WriteAt, unless it was refused.
func (n *item) writeAt(p []byte, off int) {
	data := []byte(n.shown())
	if gap := off - len(data); gap > 0 && len(p) > 0 {
		data = append(data, bytes.Repeat([]byte{0}, gap)...)
	}
	if len(p) > 0 {
		n := copy(data[off:], p)
		data = append(data, p[n:]...)
	}
	n.data = string(data)
	n.dirty, n.cut = true, false
	n.refused = n.refused && off > 0
}

func (n *item) truncate(size int) {
	data := append([]byte(n.shown()), make([]byte, size)...)
	n.data = string(data[:size])
	n.dirty, n.cut = true, size == 0
	n.refused = n.refused && size > 0
}
