//go:build !unix

package session

// writable has no cheap answer here: saving gives it.
func writable(string) error { return nil }
