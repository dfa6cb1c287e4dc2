package sample

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/geometry"
)

func TestWorld(t *testing.T) {
	files, err := worldFiles()
	if err != nil {
		t.Fatal(err)
	}
	again, err := worldFiles()
	if err != nil {
		t.Fatal(err)
	}
	named := namedInAreaList(t)
	for i, f := range files {
		if !bytes.Equal(f.data, again[i].data) {
			t.Errorf("%s: not the same bytes twice", f.name)
		}
		if len(f.data) > 200<<10 {
			t.Errorf("%s has %d bytes", f.name, len(f.data))
		}
		verify := geometry.VerifyZone
		if path.Ext(f.name) == ".apd" {
			verify = geometry.VerifyArea
		}
		for finding := range verify(f.data, true, geometry.DecodeOptions{}) {
			t.Fatalf("%s: %v", f.name, finding)
		}
		if name := strings.TrimSuffix(path.Base(f.name), path.Ext(f.name)); !named[name] {
			t.Errorf("the data center does not name %s", name)
		}
	}
}

// namedInAreaList returns the zones and areas that the data center names.
func namedInAreaList(t *testing.T) map[string]bool {
	t.Helper()
	f := dctest.Open(t, mustDataCenter(t, datacenter.LayoutV6X64))
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	var add func(n datacenter.Node)
	add = func(n datacenter.Node) {
		var at geometry.ZonePosition
		for a, err := range n.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			switch n.Name() + "/" + a.Name() {
			case "Area/name":
				text, err := a.AppendText(nil)
				if err != nil {
					t.Fatal(err)
				}
				named[string(text)] = true
			case "Zone/x":
				at.X = uint32(a.Int())
			case "Zone/y":
				at.Y = uint32(a.Int())
			}
		}
		named[at.String()] = true
		for c, err := range n.Children() {
			if err != nil {
				t.Fatal(err)
			}
			add(c)
		}
	}
	for sheet, err := range root.Children() {
		if err != nil {
			t.Fatal(err)
		}
		if sheet.Name() == "AreaList" {
			add(sheet)
		}
	}
	return named
}
