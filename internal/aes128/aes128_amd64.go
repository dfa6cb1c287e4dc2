package aes128

import "golang.org/x/sys/cpu"

var hasAES = cpu.X86.HasAES

// expand makes the round keys of a key.
//
//go:noescape
func expand(key *[blockSize]byte, keys *[rounds * blockSize]byte)

// xorEncrypted XORs blocks at dst with the encryptions of those at src, in groups of wide blocks from
// the last group to the first. A block may be both, if it is farther on at src than at dst.
//
//go:noescape
func xorEncrypted(dst, src *byte, groups int, keys *[rounds * blockSize]byte)

// chain is Chain for n blocks, at least one.
//
//go:noescape
func chain(p *byte, n int, prev *[blockSize]byte, keys *[rounds * blockSize]byte)
