//go:build !amd64

package aes128

const hasAES = false

// These are never called.

func expand(*[blockSize]byte, *[rounds * blockSize]byte) {}

func xorEncrypted(_, _ *byte, _ int, _ *[rounds * blockSize]byte) {}

func chain(*byte, int, *[blockSize]byte, *[rounds * blockSize]byte) {}
