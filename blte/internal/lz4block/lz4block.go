// Package lz4block decodes LZ4 blocks that follow one another without sizes: only decoding
// a block shows where the next begins.
package lz4block

import "errors"

var (
	errEnds   = errors.New("the LZ4 data ends early")
	errBehind = errors.New("an LZ4 match begins before the data")
	errLong   = errors.New("an LZ4 sequence is longer than the block")
)

const minMatch = 4

// Decode fills dst[from:] from src and returns the number of bytes it read. Matches may
// reach back into dst[:from].
func Decode(dst []byte, from int, src []byte) (int, error) {
	pos, at := 0, from
	for at < len(dst) {
		if pos >= len(src) {
			return 0, errEnds
		}
		token := src[pos]
		literals, n, err := length(src[pos+1:], int(token>>4))
		if err != nil {
			return 0, err
		}
		pos += 1 + n
		switch {
		case literals > len(dst)-at:
			return 0, errLong
		case literals > len(src)-pos:
			return 0, errEnds
		}
		at += copy(dst[at:], src[pos:pos+literals])
		pos += literals
		if at == len(dst) {
			break // the last sequence has no match
		}
		size, n, err := match(dst, at, src[pos:], int(token&15))
		if err != nil {
			return 0, err
		}
		at += size
		pos += n
	}
	return pos, nil
}

// match copies a match to dst[at:]. It returns its size and the size of its description.
func match(dst []byte, at int, src []byte, nibble int) (size, n int, err error) {
	if len(src) < 2 {
		return 0, 0, errEnds
	}
	dist := int(src[0]) | int(src[1])<<8
	size, n, err = length(src[2:], nibble)
	if err != nil {
		return 0, 0, err
	}
	size += minMatch
	switch {
	case dist == 0 || dist > at:
		return 0, 0, errBehind
	case size > len(dst)-at:
		return 0, 0, errLong
	}
	for i := range size { // byte by byte: a match may overlap itself
		dst[at+i] = dst[at+i-dist]
	}
	return size, 2 + n, nil
}

// length reads a length that begins in a nibble of the token. It returns the length and the
// number of bytes it takes after the token.
func length(src []byte, nibble int) (size, n int, err error) {
	if nibble < 15 {
		return nibble, 0, nil
	}
	size = nibble
	for {
		if n >= len(src) {
			return 0, 0, errEnds
		}
		b := src[n]
		n++
		size += int(b)
		if b < 255 {
			return size, n, nil
		}
	}
}
