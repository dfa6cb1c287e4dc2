package nearest

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"Item", "ItemData", "itemIds", "한글이름", "id", "x"}
	for name, want := range map[string]string{
		"ItemDat": "ItemData", "itemdata": "ItemData", "ItmeData": "ItemData", "ITEM": "Item", "한글이롬": "한글이름",
		"idd": "id", "": "", "y": "", "Completely": "", "NpcData": "",
	} {
		if got := Name(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
