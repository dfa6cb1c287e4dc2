// Package md5s computes the MD5s (RFC 1321) of several messages at once.
//
// A step of MD5 needs the result of the step before, so that one message keeps only a part of a
// core busy. On x86-64 with AVX2 eight messages are computed side by side, each in its lane of the
// vector registers, which takes a third of the time or less. Elsewhere it is crypto/md5.
package md5s

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"slices"
)

const (
	// lanes is how many messages are computed side by side. With fewer than fewest there is nothing
	// to gain.
	lanes  = 8
	fewest = 3

	blockSize = md5.BlockSize
	// lengthSize is the size of the length that ends the last block, in bits.
	lengthSize = 8
)

// Append appends the MD5 of each message to sums.
func Append(sums [][md5.Size]byte, messages ...[]byte) [][md5.Size]byte {
	if !sideBySide || len(messages) < fewest {
		for _, m := range messages {
			sums = append(sums, md5.Sum(m))
		}
		return sums
	}
	from := len(sums)
	sums = append(sums, make([][md5.Size]byte, len(messages))...)
	h := hasher{messages: messages, sums: sums[from:]}
	h.run()
	return sums
}

// hasher hashes messages in lanes.
type hasher struct {
	messages [][]byte
	sums     [][md5.Size]byte
	// order has the numbers of the messages that no lane has begun, the longest first: if a long one
	// began last, it would be alone in the end.
	order []int
	lanes [lanes]lane
	state state
}

// state has word i of the state of each lane in state[i].
type state [4][lanes]uint32

// lane is a message that is being hashed.
type lane struct {
	message int
	// blocks is what is to be hashed next, whole blocks. The lane is free if there are none.
	blocks []byte
	// end is the last one or two blocks, with the padding. ended is set when blocks is end.
	end   [2 * blockSize]byte
	ended bool
}

func (h *hasher) run() {
	h.order = make([]int, len(h.messages))
	for i := range h.order {
		h.order[i] = i
	}
	slices.SortFunc(h.order, func(a, b int) int { return cmp.Compare(len(h.messages[b]), len(h.messages[a])) })
	for h.fill() {
		h.step()
	}
}

// fill gives free lanes the next messages, and reports whether any lane has one.
func (h *hasher) fill() (more bool) {
	for i := range h.lanes {
		l := &h.lanes[i]
		if len(l.blocks) == 0 && len(h.order) > 0 {
			l.begin(h.order[0], h.messages[h.order[0]])
			h.state[0][i], h.state[1][i], h.state[2][i], h.state[3][i] = 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476
			h.order = h.order[1:]
		}
		more = more || len(l.blocks) > 0
	}
	return more
}

func (l *lane) begin(number int, message []byte) {
	whole := len(message) / blockSize * blockSize
	l.message, l.blocks, l.ended = number, message[:whole], false
	clear(l.end[:])
	l.end[copy(l.end[:], message[whole:])] = 0x80
	binary.LittleEndian.PutUint64(l.end[l.endSize(message)-lengthSize:], uint64(len(message))<<3)
	if whole == 0 {
		l.finish(message)
	}
}

// endSize returns the size of the blocks with the padding.
func (l *lane) endSize(message []byte) int {
	if len(message)%blockSize+1+lengthSize > blockSize {
		return 2 * blockSize
	}
	return blockSize
}

// finish goes on to the last blocks.
func (l *lane) finish(message []byte) {
	l.blocks, l.ended = l.end[:l.endSize(message)], true
}

// step hashes as many blocks of each lane as all have.
func (h *hasher) step() {
	var at [lanes]*byte
	least := 0
	var used *byte
	for i := range h.lanes {
		if n := len(h.lanes[i].blocks); n > 0 {
			at[i], used = &h.lanes[i].blocks[0], &h.lanes[i].blocks[0]
			if least == 0 || n < least {
				least = n
			}
		}
	}
	for i := range at {
		if at[i] == nil {
			at[i] = used // the lane is free: whatever it hashes is not used
		}
	}
	hashBlocks(&h.state, &at, &sines, least/blockSize)
	for i := range h.lanes {
		h.advance(i, least)
	}
}

// advance goes on in lane i behind n bytes.
func (h *hasher) advance(i, n int) {
	l := &h.lanes[i]
	if len(l.blocks) == 0 {
		return
	}
	if l.blocks = l.blocks[n:]; len(l.blocks) > 0 {
		return
	}
	if !l.ended {
		l.finish(h.messages[l.message])
		return
	}
	sum := &h.sums[l.message]
	for word := range h.state {
		binary.LittleEndian.PutUint32(sum[4*word:], h.state[word][i])
	}
}
