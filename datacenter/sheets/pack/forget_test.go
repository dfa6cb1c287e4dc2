package pack_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/testneeds"
)

// oneReader has all sheets read by one goroutine, so that they share what is read.
func oneReader(t *testing.T) {
	t.Helper()
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestPackOfTagsThatComeAgain packs sheets that have the start tags of the first one again: in
// another order, with other texts and children, and with keys of their own. There are so many
// that those of the first sheet are freed meanwhile.
func TestPackOfTagsThatComeAgain(t *testing.T) {
	testneeds.Seconds(t)
	oneReader(t)
	const tags = 4000
	long := strings.Repeat("long", 250) // 4 MB in all, where strings are freed by the MB
	sheet := func(text string, place func(i int) int) *dctest.Node {
		s := &dctest.Node{Name: "Sheet"}
		for i := range tags {
			i = place(i)
			n := &dctest.Node{Name: "N", Keys: []string{"id"}, Attrs: []dctest.Attr{
				{Name: "id", Value: i}, {Name: "long", Value: fmt.Sprint(long, i)},
			}}
			if i%3 == 0 { // those come behind the others
				n.Keys = []string{"long"}
			}
			if i%3 == 1 && i < tags/8 && text != "" {
				n.Attrs = append(n.Attrs, dctest.Text(text))
			}
			if i%7 == 0 {
				n.Children = append(n.Children, &dctest.Node{Name: "Sub", Attrs: []dctest.Attr{{Name: "of", Value: text}}})
			}
			s.Children = append(s.Children, n)
		}
		return s
	}
	forward, backward := func(i int) int { return i }, func(i int) int { return tags - 1 - i }
	for name, texts := range map[string][]string{
		"texts later": {"", "b", "b", "c", ""}, "texts at first": {"a", "", "", "b", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			root := dctest.Root(
				sheet(texts[0], forward), sheet(texts[1], backward), sheet(texts[2], forward),
				sheet(texts[3], backward), sheet(texts[4], forward),
			)
			f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
			got, _ := mustPack(t, exported(t, f), pack.Options{})
			same(t, got, f)
		})
	}
}
