package intern

const (
	// Places are multiples of wordSize, so that 32 bits tell apart 16 GiB.
	wordSize = 4
	// firstChunk and chunkSize are the sizes of the first chunk, and of the largest ones. In between
	// each is twice as large as the one before.
	firstChunk = 64 << 10
	chunkSize  = 8 << 20
	chunkWords = chunkSize / wordSize
	// maxChunks is how many chunks can be told apart.
	maxChunks = 1 << 32 / chunkWords
)

// MaxSize is the size of the largest piece of an Arena, in bytes.
const MaxSize = chunkSize

// Arena keeps pieces of bytes, each at a place that it has for good. The zero value is empty. Pieces that
// were added can be read, and changed, while another goroutine does so with other pieces, but not while
// one is added.
type Arena struct {
	// chunks have as many bytes as are in use. Those from used on are there to be used again.
	chunks [][]byte
	used   int
}

// Add returns the place of a new piece of so many bytes, and the piece, whose bytes are anything.
func (a *Arena) Add(n int) (at uint32, piece []byte) {
	n = (n + wordSize - 1) &^ (wordSize - 1)
	if a.used == 0 || cap(a.chunks[a.used-1])-len(a.chunks[a.used-1]) < n {
		a.begin(n)
	}
	last := a.used - 1
	from := len(a.chunks[last])
	a.chunks[last] = a.chunks[last][:from+n]
	return uint32(last*chunkWords + from/wordSize), a.chunks[last][from:]
}

// begin begins a chunk with room for n bytes.
func (a *Arena) begin(n int) {
	for a.used < len(a.chunks) && cap(a.chunks[a.used]) < n {
		a.chunks[a.used] = a.chunks[a.used][:0]
		a.used++
	}
	if n > MaxSize || a.used == maxChunks {
		panic("intern: BUG: a piece that an arena has no room for")
	}
	if a.used == len(a.chunks) {
		size := firstChunk
		if a.used > 0 {
			size = min(2*cap(a.chunks[a.used-1]), chunkSize)
		}
		a.chunks = append(a.chunks, make([]byte, 0, max(size, n)))
	}
	a.chunks[a.used] = a.chunks[a.used][:0]
	a.used++
}

// At returns what begins at a place: the piece, and what was added behind it since.
func (a *Arena) At(at uint32) []byte {
	return a.chunks[at/chunkWords][at%chunkWords*wordSize:]
}

// Next returns the place of the first piece that does not begin before at, which must be where a piece
// begins or ends. It reports false if there is none yet.
func (a *Arena) Next(at uint32) (uint32, bool) {
	chunk := int(at / chunkWords)
	if chunk < a.used && int(at%chunkWords)*wordSize < len(a.chunks[chunk]) {
		return at, true
	}
	for chunk++; chunk < a.used; chunk++ {
		if len(a.chunks[chunk]) > 0 {
			return uint32(chunk * chunkWords), true
		}
	}
	return at, false
}

// End returns where the next piece would begin, if there is room for it.
func (a *Arena) End() uint32 {
	if a.used == 0 {
		return 0
	}
	return uint32((a.used-1)*chunkWords + len(a.chunks[a.used-1])/wordSize)
}

// Forget frees the chunks in front of the one with a place. What lies there must not be read any more,
// and nothing may be added.
func (a *Arena) Forget(at uint32) {
	for i := int(at/chunkWords) - 1; i >= 0 && a.chunks[i] != nil; i-- {
		a.chunks[i] = nil
	}
}

// Reset makes the arena empty, and keeps its memory for other pieces.
func (a *Arena) Reset() { a.used = 0 }
