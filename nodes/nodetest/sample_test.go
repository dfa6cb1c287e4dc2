package nodetest

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"testing"
	"time"

	"lorefs/nodes"
)

// wide returns a tree of nested directories, fan wide at each level, with one file in each of
// the innermost.
func wide(t *testing.T, fan ...int) *Mem {
	t.Helper()
	var b Builder
	var fill func(dir nodes.ID, fan []int)
	fill = func(dir nodes.ID, fan []int) {
		if len(fan) == 0 {
			b.File(dir, "file", "text")
			return
		}
		for i := range fan[0] {
			fill(b.Dir(dir, strconv.Itoa(i)), fan[1:])
		}
	}
	fill(nodes.Root, fan)
	m, err := b.Build(time.Unix(1_500_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSampleReachesFiles(t *testing.T) {
	for _, fan := range [][]int{{6000}, {500, 40}, {20, 20, 20}, {3, 3, 3, 3, 3, 3, 3}} {
		const limit = 5000
		tree := wide(t, fan...)
		want := min(limit, int(tree.Usage().Nodes)-1)
		files, paths := 0, map[string]bool{}
		got := sample(t, tree, limit)
		for _, n := range got {
			if n.entry.Kind == nodes.File {
				files++
			}
			paths[n.path] = true
		}
		if len(got) != want || len(paths) != want || files < 100 {
			t.Errorf("%v: %d nodes sampled, %d distinct, %d files; want %d", fan, len(got), len(paths), files, want)
		}
	}
}

func TestSampleTakesFirstAndLast(t *testing.T) {
	for n := 2; n < 20; n++ {
		entries := make([]nodes.Entry, 57)
		for i := range entries {
			entries[i].ID = nodes.ID(i)
		}
		picked, others := pick(entries, n)
		if len(picked) != n || len(others) != 57-n || picked[0].ID != 0 || picked[n-1].ID != 56 {
			t.Errorf("%d of 57: %v", n, picked)
		}
	}
}

// reporter collects the errors of a suite.
type reporter struct {
	testing.TB
	faults []string
}

func (r *reporter) Helper() {}

func (r *reporter) Errorf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// aliasing lists the directory "a" a second time, as "b", or the file "f" as "g".
type aliasing struct {
	*Mem
	from, to string
}

func (a aliasing) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		for e, err := range a.Mem.ReadDir(ctx, dir, cursor) {
			if !yield(e, err) {
				return
			}
			if e.Name == a.from {
				e.Name, e.Next = a.to, e.Next+1000
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func TestOnlyFilesMayHaveTwoNames(t *testing.T) {
	files := MemFiles(time.Unix(1_500_000_000, 0), map[string]string{"a/x": "text", "f": "text"})
	for _, c := range []struct {
		from, to string
		faulty   bool
	}{{"a", "b", true}, {"f", "g", false}} {
		tree := aliasing{files, c.from, c.to}
		s := &suite{tree: tree, sampled: sample(t, tree, 100)}
		r := &reporter{TB: t}
		s.numbers(r)
		if faulty := len(r.faults) > 0; faulty != c.faulty {
			t.Errorf("%s and %s: %q", c.from, c.to, r.faults)
		}
	}
}
