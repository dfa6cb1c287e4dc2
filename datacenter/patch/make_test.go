package patch_test

import (
	"testing"

	"lorefs/datacenter/dctest"
)

// The hashes stand in patches that people keep: they must not change, nor must what stands
// for a node.
func TestMake(t *testing.T) {
	zoo := func(level int, twins ...*dctest.Node) *dctest.Node {
		return under(of("Zoo", "zoneId", 3),
			append(twins, keyed(under(of("Npc", "id", 1, "name", "a"), of("Stat", "level", level, "maxHp", "469.5")), "id"), keyed(of("Npc", "id", 2), "id"))...)
	}
	a := open(t, zoo(14, of("T"), of("T"), under(of("T"), of("X"))), under(of("Path"), of("P", "x", 1)), under(of("Path"), of("P", "x", float32(1))))
	b := open(t, zoo(15, of("T"), under(of("T"), of("X", "v", true))), under(of("Path"), of("P", "x", 1), of("P", dctest.ValueName, "a\nb", "n", "07")), under(of("Path"), of("P", "x", float32(1))))
	p := makePatch(t, a, b)
	if got, want := string(p.Append(nil)), string(readFile(t, "testdata/made.lorepatch")); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := string(p.Reverse().Append(nil)), string(readFile(t, "testdata/reversed.lorepatch")); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
