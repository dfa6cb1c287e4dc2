package main

import "testing"

// TestVersion checks that a program without a version of its own has that being worked on, with the
// commit if anything names it.
func TestVersion(t *testing.T) {
	const hash = "6d0757e0aabbccddeeff00112233445566778899"
	for _, c := range []struct{ module, commit, want string }{
		{"v0.1.0", commit, "v0.1.0"},
		{"(devel)", hash, "0.1.0-dev+6d0757e0aabb"},
		{"", hash, "0.1.0-dev+6d0757e0aabb"},
		{"(devel)", "$Format:%H$", "0.1.0-dev"},
		{"", "", "0.1.0-dev"},
		{"v0.0.0-20261128204911-6d0757e0aabb", hash, "0.1.0-dev+6d0757e0aabb"},
		{"v0.0.0-20261128204911-6d0757e0aabb+dirty", hash, "0.1.0-dev+6d0757e0aabb.dirty"},
	} {
		if got := versionOf(c.module, c.commit); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.module, c.commit, got, c.want)
		}
	}
}
