package align_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter/internal/align"
)

func none(n int) []int32 {
	to := make([]int32, n)
	for i := range to {
		to[i] = align.None
	}
	return to
}

var sequences = rapid.SliceOfN(rapid.Uint64Range(0, 5), 0, 12)

// matched checks that equal elements are matched, each once, and counts them.
func matched(t *rapid.T, p, q []uint64, to []int32) int {
	seen := map[int32]bool{}
	for i, j := range to {
		if j == align.None {
			continue
		}
		if p[i] != q[j] || seen[j] {
			t.Fatalf("%v to %v: %v", p, q, to)
		}
		seen[j] = true
	}
	return len(seen)
}

// lcs returns the length of a longest common subsequence, by its definition.
func lcs(p, q []uint64) int {
	if len(p) == 0 || len(q) == 0 {
		return 0
	}
	row := make([]int, len(q)+1)
	for _, x := range p {
		before := 0
		for j, y := range q {
			here := row[j+1]
			if x == y {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j], here)
			}
			before = here
		}
	}
	return row[len(q)]
}

func TestSubsequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := sequences.Draw(t, "p"), sequences.Draw(t, "q")
		to := none(len(p))
		if !align.Subsequence(p, q, to) {
			t.Fatal("too long")
		}
		n := matched(t, p, q, to)
		if order := slices.DeleteFunc(to, func(j int32) bool { return j == align.None }); !slices.IsSorted(order) || n != lcs(p, q) {
			t.Fatalf("%d of %v and %v, want %d", n, p, q, lcs(p, q))
		}
	})
}

func TestInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := sequences.Draw(t, "p"), sequences.Draw(t, "q")
		to := none(len(p))
		align.InTurn(p, q, to)
		want := 0
		for h := range uint64(6) {
			count := func(s []uint64) (n int) {
				for _, x := range s {
					if x == h {
						n++
					}
				}
				return n
			}
			want += min(count(p), count(q))
		}
		if n := matched(t, p, q, to); n != want {
			t.Fatalf("%d of %v and %v, want %d", n, p, q, want)
		}
	})
}

func TestUnique(t *testing.T) {
	to := none(4)
	align.Unique([]uint64{1, 2, 2, 3}, []uint64{3, 2, 1, 1}, to)
	if want := []int32{align.None, align.None, align.None, 0}; !slices.Equal(to, want) {
		t.Errorf("%v, want %v", to, want)
	}
}

func TestFillGaps(t *testing.T) {
	for _, tt := range []struct {
		to, want []int32
		filled   int
	}{
		{[]int32{align.None, 2, align.None, align.None, align.None}, []int32{0, 2, 3, 4, align.None}, 3},
		{[]int32{3, align.None, 1, align.None, 2}, []int32{3, 0, 1, align.None, 2}, 1}, // the first has moved
		{[]int32{0, 1}, []int32{0, 1}, 0},
	} {
		to := slices.Clone(tt.to)
		if filled := align.FillGaps(to, 5); !slices.Equal(to, tt.want) || filled != tt.filled {
			t.Errorf("%v: %v and %d, want %v and %d", tt.to, to, filled, tt.want, tt.filled)
		}
	}
}

func TestAscending(t *testing.T) {
	got := align.Ascending([]int32{4, 0, align.None, 1, 5, 2})
	if want := []bool{false, true, false, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
