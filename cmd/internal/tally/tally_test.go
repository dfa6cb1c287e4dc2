package tally

import (
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	lines := []string{
		`{"schema_version":1,"kind":"attribute_changed","path":"/ItemData/Item[@id=1001]/@price","old":{},"new":{}}`,
		`{"kind":"attribute_changed","path":"/ItemData/Item[@name='a]b[/c']/@price"}`,
		`{"kind":"attribute_removed","path":"/ItemData/Item[@id=7 and Stat[@hp=\"]\"]]/@price"}`,
		`{"kind":"node_added","path":"/ItemData/Item[@id=5]"}`,
		`{"kind":"node_moved","path":"/ItemData/Item[@id=6]"}`,
		`{"kind":"attribute_changed","path":"ItemData.5/Item.99/v1%2E5"}`,
		`{"kind":"attribute_changed","path":"ItemData/Item/v1%2E5"}`,
		`{"kind":"square_changed","path":"squares/x1000y1000/000-001.json"}`,
		`{"kind":"file_added","path":"a.1/b.txt"}`,
		`{"kind":"changed_or_encoded_anew","path":"top.1"}`,
		`{"kind":"open","path":"sheets/ItemData/ItemData-00001.xml"}`,
		`{"kind":"not_compared","path":"x"}`,
	}
	const want = `/ItemData/Item         1 added, 1 moved
/ItemData/Item/@price  1 removed, 2 changed
ItemData/Item/v1%2E5   2 changed
a.1/                   1 added
squares/x1000y1000/    1 changed
top.1                  1 changed
10 differences in 6 places
`
	text := strings.Join(lines, "\n") + "\n"
	for _, size := range []int{1, 7, len(text)} {
		var c Tally
		for i := 0; i < len(text); i += size {
			if _, err := c.Write([]byte(text[i:min(i+size, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		if err := c.Print(&b, false); err != nil || b.String() != want || c.Lines != 10 {
			t.Errorf("in pieces of %d bytes: %v, %d\n%s", size, err, c.Lines, b.String())
		}
	}
	var c Tally
	if _, err := c.Write([]byte("no JSON\n")); err == nil {
		t.Error("a line that is no JSON was taken")
	}
}
