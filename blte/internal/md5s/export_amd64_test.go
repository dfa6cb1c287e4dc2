package md5s

import "iter"

// Ways has messages hashed in one way after the other.
func Ways() iter.Seq[string] {
	return func(yield func(string) bool) {
		defer func(all bool) { ternary = all }(ternary)
		if ternary && !yield("AVX-512") {
			return
		}
		ternary = false
		yield("AVX2, or none")
	}
}
