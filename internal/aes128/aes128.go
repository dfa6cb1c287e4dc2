// Package aes128 is AES with a key of 128 bits for work on many blocks at once.
//
// A processor has several encryptions under way at the same time, if they don't depend on each
// other. The standard library's cipher takes one block, and waits for it: five times as long in all.
// Without this package a save of a data center after one edit takes 1.15 times the CPU time.
package aes128

import (
	"crypto/aes"
	"crypto/cipher"
)

const (
	blockSize = aes.BlockSize
	// rounds is the number of round keys, with the one that comes first.
	rounds = 11
	// wide is how many blocks are encrypted at the same time.
	wide = 8
)

// New returns the standard library's cipher, as a [*Blocks] if this processor can do more.
func New(key [16]byte) (cipher.Block, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil || !hasAES {
		return block, err
	}
	b := &Blocks{Block: block}
	expand(&key, &b.keys)
	return b, nil
}

// Blocks is a cipher that also works on many blocks. It is safe for parallel use.
type Blocks struct {
	cipher.Block
	keys [rounds * blockSize]byte
}

// XORBefore XORs blocks at the end of p with the encryption of the block before each, from the last
// one to the first, and returns their number. That is a multiple of eight. Up to eight blocks at the
// beginning stay as they are: the first one has none before it.
func (b *Blocks) XORBefore(p []byte) (n int) {
	groups := (len(p)/blockSize - 1) / wide
	if groups <= 0 {
		return 0
	}
	n = groups * wide
	at := len(p) - n*blockSize
	xorEncrypted(&p[at], &p[at-blockSize], groups, &b.keys)
	return n
}

// Chain XORs each block of p with the encryption of what the one before it has become. prev is what is
// before the first one; it becomes the last one. It leaves a part of a block at the end.
func (b *Blocks) Chain(p []byte, prev *[blockSize]byte) {
	if n := len(p) / blockSize; n > 0 {
		chain(&p[0], n, prev, &b.keys)
	}
}
