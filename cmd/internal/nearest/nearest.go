// Package nearest guesses which of some names a mistyped one is meant to be.
package nearest

import "strings"

// Name returns the one of some names that a name is most likely meant to be, or nothing. It
// differs in the case of letters, or in up to two of them.
func Name(name string, names []string) (near string) {
	least := min(3, len(name)/2+1) // of a short name any other is near
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
		if d := len(n) - len(name); d < least && -d < least {
			if d := distance(name, n); d < least {
				near, least = n, d
			}
		}
	}
	return near
}

// distance returns how many bytes have to be inserted, removed or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
