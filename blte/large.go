package blte

import (
	"bytes"
	"crypto/md5"
	"io"
	"sync"

	"lorefs/internal/readat"
)

// maxHeld is the largest plain chunk that is decoded as a whole. A larger one, as
// films are stored in, would push all others out of any cache, only to be read again
// for the next few bytes.
const maxHeld = 8 << 20

// largeChunks are the plain chunks that are read in place: their MD5 is checked
// when they are first read, once.
type largeChunks struct {
	mu sync.Mutex // held while a chunk is checked, so that it is checked once
	// inPlace says of a chunk whether it is read so, once that is known.
	inPlace map[int]bool
}

// inPlace says whether chunk i is read in place, and checks it if so.
func (r *Reader) inPlace(i int) (bool, error) {
	c := &r.head.Chunks[i]
	if c.EncodedSize <= maxHeld {
		return false, nil
	}
	r.large.mu.Lock()
	defer r.large.mu.Unlock()
	if is, known := r.large.inPlace[i]; known {
		return is, nil
	}
	var mode [1]byte
	if err := readat.Full(r.src, mode[:], c.Off); err != nil {
		return false, r.fail(i, err)
	}
	is := mode[0] == ModePlain
	if is {
		if err := r.checkLarge(i); err != nil {
			return false, err
		}
	}
	if r.large.inPlace == nil {
		r.large.inPlace = map[int]bool{}
	}
	r.large.inPlace[i] = is
	return is, nil
}

// checkLarge checks the size and the sums of a plain chunk, as decodeSummed does.
func (r *Reader) checkLarge(i int) error {
	c := &r.head.Chunks[i]
	if c.DecodedSize >= 0 && c.DecodedSize != c.EncodedSize-1 {
		return r.fail(i, badChunk("mode %c: %d bytes decoded, %d stated", ModePlain, c.EncodedSize-1, c.DecodedSize))
	}
	if !r.head.Table {
		return r.checkLargeFile(i)
	}
	if sum, err := r.sum(i, 0); err != nil {
		return err
	} else if sum != c.Sum {
		return r.fail(i, badChunk("the MD5 is %x, the table has %x", sum, c.Sum))
	}
	if !r.head.Long {
		return nil
	}
	if sum, err := r.sum(i, 1); err != nil {
		return err
	} else if sum != c.DecodedSum {
		return r.fail(i, badChunk("the MD5 of the content is %x, the table has %x", sum, c.DecodedSum))
	}
	return nil
}

// checkLargeFile checks the key of a file without table.
func (r *Reader) checkLargeFile(i int) error {
	if len(r.opts.Key) == 0 {
		return nil
	}
	key, err := r.sum(i, -prefixSize)
	if err == nil && !bytes.HasPrefix(key[:], r.opts.Key) {
		return badHeader(0, "the encoding key is %x, expected %x", key, r.opts.Key)
	}
	return err
}

// sum is the MD5 of chunk i from a byte on, which may be before it.
func (r *Reader) sum(i int, from int64) (MD5, error) {
	c := &r.head.Chunks[i]
	h := md5.New()
	part := io.NewSectionReader(r.src, c.Off+from, c.EncodedSize-from)
	n, err := io.CopyBuffer(h, part, make([]byte, maxPooled))
	if err == nil && n < c.EncodedSize-from {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return MD5{}, r.fail(i, err)
	}
	return MD5(h.Sum(nil)), nil
}
