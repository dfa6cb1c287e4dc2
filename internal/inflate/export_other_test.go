//go:build !amd64

package inflate

// portable does nothing: there is no other loop.
func portable() (undo func()) { return func() {} }
