package dctree_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/overlay"
)

// The memory of all scratch files together is limited. A file that was removed or became a value
// takes none of it.
func TestRoomForScratchFiles(t *testing.T) {
	e := editable(t, weapon())
	e.Editable = dctree.NewEditable(e.plain, e.draft, dctree.EditOptions{Limits: overlay.Limits{Texts: 100_000}})
	text := strings.Repeat("x", 10_000)
	files := 0
	var err error
	for ; err == nil && files < 20; files++ {
		err = e.write(t, e.create(t, fmt.Sprintf("Weapon/.f%d", files)), text)
	}
	if !errors.Is(err, nodes.ErrNoSpace) || files < 8 || files > 11 {
		t.Fatalf("%v at file %d of %d bytes each", err, files, len(text))
	}
	for i := range files {
		id := e.mustAt(t, fmt.Sprintf("Weapon/.f%d", i))
		must(t, e.remove(t, fmt.Sprintf("Weapon/.f%d", i)))
		e.Forget(id)
	}
	for i := range 50 {
		must(t, e.write(t, e.mustAt(t, "Weapon/Item/name"), text[i:]))
	}
	must(t, e.write(t, e.create(t, "Weapon/.again"), text))
}
