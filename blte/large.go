package blte

import (
	"crypto/md5"
	"io"
	"sync"

	"lorefs/internal/readat"
)

// maxHeld is the largest plain chunk that is decoded as a whole. A larger one, such as a
// film, would push everything else out of the cache.
const maxHeld = 8 << 20

// largeChunks are the plain chunks that are read in place. The first read checks a chunk's
// MD5, later reads check the checksum of each piece.
type largeChunks struct {
	mu sync.Mutex // held while a chunk is checked, so that it is checked once
	// content has the chunks that were looked at; nil means that the chunk is decoded as a
	// whole.
	content map[int]*readat.Checked
}

// inPlace returns the content of chunk i if it is read in place, else nil. It checks the
// chunk if that has not been done.
func (r *Reader) inPlace(i int) (*readat.Checked, error) {
	c := &r.head.Chunks[i]
	if c.EncodedSize <= maxHeld {
		return nil, nil
	}
	r.large.mu.Lock()
	defer r.large.mu.Unlock()
	if content, known := r.large.content[i]; known {
		return content, nil
	}
	var mode [1]byte
	if err := readat.Full(r.src, mode[:], c.Off); err != nil {
		return nil, r.fail(i, err)
	}
	var content *readat.Checked
	if mode[0] == ModePlain {
		var err error
		if content, err = r.checkLarge(i); err != nil {
			return nil, err
		}
	}
	if r.large.content == nil {
		r.large.content = map[int]*readat.Checked{}
	}
	r.large.content[i] = content
	return content, nil
}

// checkLarge checks the size and the sums of a plain chunk, as decodeSummed does, and the
// key of a file without table, as checkWhole does.
func (r *Reader) checkLarge(i int) (*readat.Checked, error) {
	c := &r.head.Chunks[i]
	size := c.EncodedSize - 1
	if c.DecodedSize >= 0 && c.DecodedSize != size {
		return nil, r.fail(i, badChunk("mode %c: %d bytes decoded, %d stated", ModePlain, size, c.DecodedSize))
	}
	encoded, decoded := md5.New(), md5.New()
	var check io.Writer = encoded
	switch {
	case !r.head.Table:
		encoded.Write([]byte(noTable))
	case r.head.Long:
		check = io.MultiWriter(encoded, decoded)
	}
	// The mode in the file may have changed since it was read.
	encoded.Write([]byte{ModePlain})
	content, err := readat.Check(io.NewSectionReader(r.src, c.Off+1, size), size, check)
	if err != nil {
		return nil, r.fail(i, err)
	}
	sum := MD5(encoded.Sum(nil))
	switch {
	case !r.head.Table && !hasPrefix(sum, r.opts.Key):
		return nil, badHeader(0, "the encoding key is %x, expected %x", sum, r.opts.Key)
	case r.head.Table && sum != c.Sum:
		return nil, r.fail(i, badChunk("the MD5 is %x, the table has %x", sum, c.Sum))
	case r.head.Long && MD5(decoded.Sum(nil)) != c.DecodedSum:
		return nil, r.fail(i, badChunk("the MD5 of the content is %x, the table has %x", decoded.Sum(nil), c.DecodedSum))
	}
	return content, nil
}
