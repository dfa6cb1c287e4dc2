//go:build !linux

package cli

// stdoutClosed reports whether the process was started without a standard output. Here that
// is unknown, or writing fails by itself.
func stdoutClosed() bool { return false }
