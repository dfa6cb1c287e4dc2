package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"math/bits"
	"sort"

	"lorefs/blte"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/readat"
)

// idxBlock is how many entries of a run are cached as one block: 18 KiB. Most searches stay
// in one block.
const idxBlock = 1 << 10

// idxSeed is the seed of the checksums of blocks, which never leave the process.
var idxSeed = maphash.MakeSeed()

// idxRun is a run of sorted entries, which stay in the file. The file is not mapped, since
// a game that cuts it short would crash the process. The game may also write to it, so each
// block has a checksum.
type idxRun struct {
	off  int64
	len  int // in entries
	sums []uint64

	src    io.ReaderAt
	blocks blte.BlockCache
	first  uint64 // of its blocks
	load   func(ctx context.Context, n uint64) ([]byte, error)
}

// newIdxRun describes the entries at off of a file. src and the fields below it must be set
// before it is used.
func newIdxRun(off int64, entries []byte) *idxRun {
	r := &idxRun{off: off, len: len(entries) / idxEntrySize}
	for i := 0; i < r.len; i += idxBlock {
		r.sums = append(r.sums, maphash.Bytes(idxSeed, entries[i*idxEntrySize:min(i+idxBlock, r.len)*idxEntrySize]))
	}
	r.load = r.loadBlock
	return r
}

// block returns a block. It needs no context, because the index is a local file.
func (r *idxRun) block(i int) ([]byte, error) {
	return r.blocks.Block(context.Background(), r.first+uint64(i), r.load)
}

// loadBlock reads a block by its number in the cache.
func (r *idxRun) loadBlock(_ context.Context, n uint64) ([]byte, error) {
	i := int(n - r.first)
	b := make([]byte, min(idxBlock, r.len-i*idxBlock)*idxEntrySize)
	off := r.off + int64(i*idxBlock*idxEntrySize)
	err := readat.Full(r.src, b, off)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || err == nil && maphash.Bytes(idxSeed, b) != r.sums[i]:
		return nil, &format.Error{Format: string(IdxFormat), Off: off, Err: format.ErrChanged}
	case err != nil:
		return nil, fmt.Errorf("casc: idx: %w", err)
	}
	return b, nil
}

// find yields the entries of key, the last one first. An error comes last.
func (r *idxRun) find(key keys.Short) iter.Seq2[IdxEntry, error] {
	return func(yield func(IdxEntry, error) bool) {
		c := runCursor{run: r, in: -1}
		for at := c.behind(key); at > 0 && c.err == nil; at-- {
			e := c.entry(at - 1)
			if c.err == nil && (!bytes.Equal(e[:keys.ShortSize], key[:]) || !yield(idxEntry(e), nil)) {
				return
			}
		}
		if c.err != nil {
			yield(IdxEntry{}, c.err)
		}
	}
}

// runCursor reads entries, mostly near each other. Its error is sticky.
type runCursor struct {
	run  *idxRun
	in   int // the block that it has
	data []byte
	err  error
}

// noEntry stands for entries that can't be read.
var noEntry [idxEntrySize]byte

func (c *runCursor) entry(i int) []byte {
	if n := i / idxBlock; n != c.in && c.err == nil {
		c.data, c.err = c.run.block(n)
		c.in = n
	}
	if c.err != nil {
		return noEntry[:]
	}
	return c.data[i%idxBlock*idxEntrySize:][:idxEntrySize]
}

// behind returns the number of the first entry whose key is behind key. Keys are MD5s and
// so evenly spread: searching from the expected place touches a few entries, where halving
// would touch some in every part of the run.
func (c *runCursor) behind(key keys.Short) int {
	n := c.run.len
	beyond := func(i int) bool { return bytes.Compare(c.entry(i)[:keys.ShortSize], key[:]) > 0 }
	guess, _ := bits.Mul64(binary.BigEndian.Uint64(key[:]), uint64(n))
	from, to := int(guess), int(guess)
	near := 1 << (bits.Len(uint(n)) / 2) // how far off the guess may be
	for step := near; to < n && !beyond(to); step *= 2 {
		from, to = to+1, min(to+step, n)
	}
	for step := near; from > 0 && beyond(from-1); step *= 2 {
		to, from = from-1, max(from-step, 0)
	}
	return from + sort.Search(to-from, func(i int) bool { return beyond(from + i) })
}

// entries yields all entries in order. An error comes last.
func (r *idxRun) entries() iter.Seq2[IdxEntry, error] {
	return func(yield func(IdxEntry, error) bool) {
		c := runCursor{run: r, in: -1}
		for i := range r.len {
			e := idxEntry(c.entry(i))
			if !yield(e, c.err) || c.err != nil {
				return
			}
		}
	}
}
