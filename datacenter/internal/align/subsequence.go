package align

import (
	"slices"
	"sort"
)

// maxEdits is how many elements Subsequence may skip on both sides together. Its work is
// that times the length, and its memory the square.
const maxEdits = 1000

// Subsequence finds a longest common subsequence of p and q, and notes in to the place in q
// of each element of p that is in it. It is Myers' algorithm, "An O(ND) Difference
// Algorithm and Its Variations" (1986). If they differ in more than maxEdits elements, ok
// is false and nothing is noted.
func Subsequence(p, q []uint64, to []int32) (ok bool) {
	limit := min(len(p)+len(q), maxEdits)
	// reach holds, for each diagonal k = i-j, how far in p the best path gets. rows holds
	// reach after each number of edits, for diagonals -d to d.
	reach := make([]int32, 2*limit+3)
	mid := limit + 1
	var rows [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			i := int32(0)
			if d > 0 {
				i = start(reach, mid, d, k)
			}
			for int(i) < len(p) && int(i)-k < len(q) && p[i] == q[int(i)-k] {
				i++
			}
			reach[mid+k] = i
			if int(i) >= len(p) && int(i)-k >= len(q) {
				trace(rows, p, q, to, d)
				return true
			}
		}
		rows = append(rows, slices.Clone(reach[mid-d:mid+d+1]))
	}
	return false
}

// start returns where the path with d edits on diagonal k begins, before equal elements:
// one down from the diagonal above, or one to the right from the one below.
func start(reach []int32, mid, d, k int) int32 {
	if k == -d || k != d && reach[mid+k-1] < reach[mid+k+1] {
		return reach[mid+k+1]
	}
	return reach[mid+k-1] + 1
}

// trace goes back along the path that was found with d edits, and notes its matches in to.
func trace(rows [][]int32, p, q []uint64, to []int32, d int) {
	i, j := len(p), len(q)
	for ; d >= 0; d-- {
		var from, fromJ int // where the edit that led here began
		if d > 0 {
			k, row := i-j, rows[d-1]
			at := func(k int) int32 { return row[k+d-1] }
			if k == -d || k != d && at(k-1) < at(k+1) {
				from, fromJ = int(at(k+1)), int(at(k+1))-(k+1)
			} else {
				from, fromJ = int(at(k-1)), int(at(k-1))-(k-1)
			}
		}
		for i > 0 && j > 0 && i-from+j-fromJ > 1 {
			i, j = i-1, j-1
			to[i] = int32(j)
		}
		i, j = from, fromJ
	}
}

// Ascending reports which of the places that are not None are in a longest ascending
// subsequence of them.
func Ascending(to []int32) []bool {
	// ends holds, for each length, the lowest end of a subsequence of that length; before
	// holds the element before each.
	var ends []int32
	before := make([]int32, len(to))
	for i, j := range to {
		if j == None {
			continue
		}
		n := sort.Search(len(ends), func(k int) bool { return to[ends[k]] >= j })
		before[i] = None
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, 0)
		}
		ends[n] = int32(i)
	}
	in := make([]bool, len(to))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i != None; i = before[i] {
			in[i] = true
		}
	}
	return in
}
