package bundle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/nodes"
)

// model is what a folder is expected to hold, and the source it was opened from or saved to.
type model struct{ now, saved map[string]string }

func (m *model) text(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s=%s ", name, files[name])
	}
	return b.String()
}

// pending counts the names by which the two differ.
func (m *model) pending() (n int64) {
	for name, text := range m.now {
		if was, ok := m.saved[name]; !ok || was != text {
			n++
		}
	}
	for name := range m.saved {
		if _, ok := m.now[name]; !ok {
			n++
		}
	}
	return n
}

// sorted lists a tree by name.
func sorted(t testing.TB, tree nodes.Tree) string {
	t.Helper()
	list := strings.Fields(list(t, tree))
	slices.Sort(list)
	return strings.Join(append(list, ""), " ")
}

// TestModel makes any edits, saves with edits meanwhile, takes back, and dies, and compares with a
// map.
func TestModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		names := []string{"a", "b", "c", "d"}
		m := &model{now: map[string]string{"a": "1", "b": "2", "c": ""}, saved: map[string]string{"a": "1", "b": "2", "c": ""}}
		file := toyOf("a", "1", "b", "2", "c", "")
		d := newFolder(t, file)
		edit := func(kind int) {
			name, to := rapid.SampledFrom(names).Draw(r, "name"), rapid.SampledFrom(names).Draw(r, "to")
			_, there := m.now[name]
			_, other := m.now[to]
			switch {
			case kind == 0 || !there:
				m.now[name] = rapid.SampledFrom([]string{"", "1", "2", "long"}).Draw(r, "text")
				d.must(d.put(name, m.now[name]))
			case kind == 1:
				delete(m.now, name)
				d.must(d.remove(name))
			case kind == 2 && name != to:
				m.now[to] = m.now[name]
				delete(m.now, name)
				d.must(d.rename(name, to, nodes.RenameReplace))
			case kind == 3 && other && name != to:
				m.now[to], m.now[name] = m.now[name], m.now[to]
				d.must(d.rename(name, to, nodes.RenameExchange))
			}
		}
		check := func(what string) {
			if got, want := sorted(t, d), m.text(m.now); got != want {
				r.Fatalf("%s: %q, want %q", what, got, want)
			}
			// A file that was moved away and back counts although its bytes are the same.
			if d.Pending() < m.pending() || d.Pending() > 2*int64(len(names)) {
				r.Fatalf("%s: %d pending, want at least %d", what, d.Pending(), m.pending())
			}
		}
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			switch kind := rapid.IntRange(0, 7).Draw(r, "kind"); kind {
			case 4: // save, and go on meanwhile
				var saved map[string]string
				data, later, err := d.save(func() {
					saved = maps.Clone(m.now)
					for range rapid.IntRange(0, 3).Draw(r, "meanwhile") {
						edit(rapid.IntRange(0, 3).Draw(r, "kind meanwhile"))
					}
				})
				d.must(err)
				if data == nil {
					continue
				}
				if file, m.saved = data, saved; sorted(t, newTree(t, data)) != m.text(saved) {
					r.Fatalf("saved %q, want %q", sorted(t, newTree(t, data)), m.text(saved))
				}
				d.records = later
			case 5: // die, and begin anew
				records := d.records
				d.open(file)
				for _, record := range records {
					d.must(d.Replay(t.Context(), record))
				}
				d.records = records
			case 6:
				_, err := d.Revert(t.Context())
				d.must(err)
				m.now = maps.Clone(m.saved)
				if d.Pending() != 0 {
					r.Fatalf("%d pending after a revert", d.Pending())
				}
			default:
				edit(kind % 4)
			}
			check("step")
		}
	})
}
