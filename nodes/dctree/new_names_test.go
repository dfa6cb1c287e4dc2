package dctree_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter/dctest"
	"lorefs/nodes"
)

var longName = strings.Repeat("n", 248)

// newNames has names with the errors of making a file and a directory.
var newNames = []struct {
	dir, name  string
	file, node error
}{
	{"Weapon/Item", "plain", nil, nil},
	{"Weapon/Item", "한국", nil, nil},
	{"Weapon/Item", "a b%25", nil, nil},
	{"Weapon/Item", "n%2E1", nil, nil},
	{"Weapon/Item", "%", nil, nil},
	{"Weapon/Item", "@new", nil, nodes.ErrInvalid},
	{"Weapon/Item", "@name", nodes.ErrExist, nodes.ErrInvalid},
	{"Weapon/Item", "name", nodes.ErrExist, nodes.ErrExist},
	{"Weapon/Item", "%40x", nil, nil},
	{"Weapon/Item", longName, nil, nil},
	{"Weapon/Item", longName + "x", nodes.ErrNameTooLong, nodes.ErrNameTooLong},
	{"Weapon/Item", "n.1", nodes.ErrInvalid, nil},
	{"Weapon/Item", "n.0", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "n.01", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "n.99999999999", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "50%", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "%2f", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "%41", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "%00", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "\xff", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon/Item", "__root__", nodes.ErrInvalid, nodes.ErrInvalid},
	{"Weapon", "__value__", nil, nodes.ErrInvalid},
	{"Weapon/Item", ".hidden", nil, nodes.ErrNotPermitted},
	{"Weapon/Item", "backup~", nil, nodes.ErrNotPermitted},
	{"", "sheet", nodes.ErrNotPermitted, nil},
	{"", "__value__", nodes.ErrNotPermitted, nodes.ErrInvalid},
	{"", ".hidden", nil, nodes.ErrNotPermitted},
}

func TestNewNames(t *testing.T) {
	for _, tt := range newNames {
		e := editable(t, weapon())
		dir := e.mustAt(t, tt.dir)
		for what, try := range map[string]func() error{
			"create": func() error {
				_, err := e.Create(t.Context(), dir, tt.name)
				return err
			},
			"rename": func() error {
				return e.Rename(t.Context(), e.mustAt(t, "Weapon/Item.1"), "name", dir, tt.name, nodes.RenameKeep)
			},
		} {
			e = editable(t, weapon())
			if err := try(); !errors.Is(err, tt.file) || (err != nil) != (tt.file != nil) {
				t.Errorf("%s of the file %s/%q: %v, want %v", what, tt.dir, tt.name, err, tt.file)
			}
			if what == "create" || (!strings.ContainsAny(tt.name, ".~") && tt.name != "@new") {
				e.survives(t) // else it is hidden, or fresh afterwards
			}
		}
		e = editable(t, weapon())
		if _, err := e.Mkdir(t.Context(), dir, tt.name); !errors.Is(err, tt.node) || (err != nil) != (tt.node != nil) {
			t.Errorf("mkdir of %s/%q: %v, want %v", tt.dir, tt.name, err, tt.node)
		}
		if tt.name != "n.1" { // it is n afterwards
			e.survives(t)
		}
	}
}

// Names of the file that are cut keep their spelling when their directory is edited.
func TestCutNames(t *testing.T) {
	percent, long := strings.Repeat("%", 100), strings.Repeat("한", 100)
	e := editable(t, dctest.Doc{Root: dctest.Root(&dctest.Node{
		Name: long, Attrs: []dctest.Attr{{Name: percent, Value: 1}, {Name: long, Value: 2}},
		Children: []*dctest.Node{{Name: percent}, {Name: percent}},
	})})
	want := shown(t, e)
	sheet := list(t, e, nodes.Root)[0]
	must(t, e.remove(t, sheet+"/"+list(t, e, e.mustAt(t, sheet))[0]))
	must(t, e.write(t, e.create(t, sheet+"/.x"), "1\n"))
	for path := range shown(t, e) {
		if _, ok := want[path]; !ok && !strings.HasSuffix(path, "/.x") {
			t.Errorf("%s is new", path)
		}
	}
	if got := len(shown(t, e)); got != len(want) {
		t.Errorf("%d paths, want %d", got, len(want))
	}
	if l := e.Loose(); len(l.Strays) != 0 || !slices.Equal(l.Scratch, []string{sheet + "/.x"}) {
		t.Errorf("not saved: %q", l)
	}
}

// The error for a number that is too large names the largest number.
func TestLargestNumberIsTold(t *testing.T) {
	e := editable(t, weapon())
	_, err := e.Mkdir(t.Context(), e.mustAt(t, "Weapon"), "Item.2147483648")
	if !errors.Is(err, nodes.ErrInvalid) || !strings.Contains(err.Error(), "from .1 to .2147483647") {
		t.Error(err)
	}
}
