//go:build !unix

package filelock

// noFollow is 0: links are rare here, and only the privileged make them.
const noFollow = 0
