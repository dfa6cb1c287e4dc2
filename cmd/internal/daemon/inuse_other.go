//go:build !linux

package daemon

// UsersOf returns nothing: the system does not tell which programs use a mount.
func UsersOf(string) []string { return nil }
