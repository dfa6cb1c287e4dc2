package dctest_test

import (
	"encoding/binary"
	"os"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/hash"
	"lorefs/internal/testneeds"
)

// TestHashesOfFixture compares the hashes with those in a file made by others.
func TestHashesOfFixture(t *testing.T) {
	file, err := os.ReadFile(testneeds.Fixture(t, "datacenter/p115_small_x64.dat"))
	if err != nil {
		t.Fatal(err)
	}
	r := read(unseal(t, file), datacenter.LayoutV6X64)
	for name, table := range map[string]table{"names": r.names, "values": r.values} {
		for _, e := range table.entries {
			if units, _ := table.text(e); hash.String(units) != e.hash {
				t.Errorf("%s: hash of %d", name, e.index)
			}
		}
	}
	values := 0
	for _, used := range r.attrs.used {
		for at := 0; at < len(used); at += r.attrs.size {
			code := binary.LittleEndian.Uint16(used[at+2:])
			if code&3 != 3 {
				continue
			}
			units, _ := r.values.text(r.values.byAddress[binary.LittleEndian.Uint32(used[at+4:])])
			if hash.Value(units) != code>>2 {
				t.Errorf("value hash of %d", at)
			}
			values++
		}
	}
	t.Logf("%d names, %d values, %d value hashes", len(r.names.entries), len(r.values.entries), values)
	if values == 0 {
		t.Error("no strings")
	}
}
