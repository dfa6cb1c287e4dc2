//go:build !unix

package filelock

// noFollow is nothing here: links are rare, and only the privileged make them.
const noFollow = 0
