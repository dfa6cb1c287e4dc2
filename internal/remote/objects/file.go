package objects

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"lorefs/internal/remote"
	"lorefs/internal/remote/ahead"
	"lorefs/internal/remote/mirror"
)

const (
	chunkSize = 1 << 20
	// recheck is how often Check has the server asked whether the object is still the same.
	recheck = 30 * time.Second
	// lookTime bounds how long somebody waits to know whether an object has changed.
	lookTime = 2 * time.Second
)

// chunkID names a chunk of an object, by the number of the object in this process.
type chunkID struct{ object, chunk int64 }

var objectCount atomic.Int64

// File is an object that is open for reading. It is safe for parallel use.
type File struct {
	store *Store
	name  string
	id    int64
	pin   pin
	// copied is the copy of an object that can't be pinned, else nil.
	copied *os.File
	// object is the name in the cache; it is used if kept is set.
	object mirror.Object
	cached bool

	changed  atomic.Pointer[changedError]
	checking atomic.Bool
	checked  atomic.Int64 // when Check last had the server asked, in nanoseconds since began
	began    time.Time
	done     context.Context //nolint:containedctx // it ends with Close, and with it what Check began
	close    context.CancelFunc

	// spans fetches chunks.
	spans ahead.Reader[[]byte]
}

// Open opens the object at a path below the source, or the source itself if the path is empty.
func (s *Store) Open(ctx context.Context, name string) (*File, error) {
	found, err := s.stat(ctx, name)
	if err != nil {
		return nil, named(s.shown(name), err)
	}
	f := s.newFile(name, found.pin)
	if found.whole {
		if err := f.copy(ctx); err != nil {
			return nil, errors.Join(named(s.shown(name), err), f.Close())
		}
	}
	return f, nil
}

func (s *Store) newFile(name string, p pin) *File {
	f := &File{store: s, name: name, id: objectCount.Add(1), pin: p, began: time.Now()}
	f.done, f.close = context.WithCancel(context.Background())
	key, ok := p.key(s.origin.Join(name).String())
	f.object, f.cached = mirror.Object{Path: "objects", Kind: mirror.Data, Key: key}, ok && s.cache != nil
	return f
}

// Path returns the name of the object for messages.
func (f *File) Path() string { return f.store.shown(f.name) }

// Size returns the size of the object in bytes.
func (f *File) Size() int64 { return f.pin.size }

// ModTime returns the time of the last change, or zero if it is unknown.
func (f *File) ModTime() time.Time { return f.pin.modified }

// Settled reports whether ModTime can stand for the content: it is known, and old enough.
func (f *File) Settled() bool { return f.pin.settled() }

// Close ends what Check has begun, and removes the copy if there is one. Nobody may be reading.
func (f *File) Close() error {
	f.close()
	if f.copied == nil {
		return nil
	}
	return errors.Join(f.copied.Close(), removeCopy(f.copied.Name()))
}

// ReadAt implements [io.ReaderAt]. It ends when the store is told to end: see [Open].
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	return f.ReadAtContext(f.store.reading(), p, off)
}

// ReadAtContext is ReadAt, and ends with an error when ctx ends.
func (f *File) ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error) {
	if f.copied != nil {
		return f.copied.ReadAt(p, off)
	}
	if off < 0 {
		return 0, fmt.Errorf("%s: a read at %d", f.Path(), off)
	}
	for n < len(p) && off < f.pin.size {
		data, err := f.chunk(ctx, off/chunkSize)
		if err != nil {
			return n, err
		}
		some := copy(p[n:], data[off%chunkSize:])
		n, off = n+some, off+int64(some)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// count returns how many chunks the object has.
func (f *File) count() int64 { return (f.pin.size + chunkSize - 1) / chunkSize }

// sizeOf returns the size of a span of chunks.
func (f *File) sizeOf(first, count int64) int64 {
	return min((first+count)*chunkSize, f.pin.size) - first*chunkSize
}

// chunk returns a chunk of the object.
func (f *File) chunk(ctx context.Context, number int64) ([]byte, error) {
	if e := f.changed.Load(); e != nil {
		return nil, e
	}
	if data, ok := f.have(number); ok {
		return data, nil
	}
	data, span, err := f.spans.Fetch(ctx, int(number), ahead.Chunks{
		Count: int(f.count()), Alone: chunkSize, Room: f.pin.size,
		Size: func(i int) int64 { return f.sizeOf(int64(i), 1) },
	}, f.fetch)
	if err != nil {
		return nil, err
	}
	from := (number - int64(span.From)) * chunkSize
	return data[from : from+f.sizeOf(number, 1)], nil
}

// have looks for a chunk in memory and in the cache.
func (f *File) have(number int64) ([]byte, bool) {
	id := chunkID{f.id, number}
	if data, ok := f.store.chunks.Get(id); ok {
		return data, true
	}
	if !f.cached {
		return nil, false
	}
	data, ok := f.store.cache.Range(f.object, number*(chunkSize+md5.Size), f.sizeOf(number, 1)+md5.Size, checkSealed)
	if !ok {
		return nil, false
	}
	data = data[:len(data)-md5.Size]
	f.store.chunks.Add(id, data)
	return data, true
}

// fetch fetches the chunks of a span and keeps them.
func (f *File) fetch(ctx context.Context, span ahead.Span) ([]byte, error) {
	first, count := int64(span.From), int64(span.To-span.From)
	if data, ok := f.have(first); ok && count == 1 {
		return data, nil // who came late
	}
	data, err := f.get(ctx, first*chunkSize, f.sizeOf(first, count))
	if err != nil {
		return nil, err
	}
	for i := range count {
		number := first + i
		chunk := data[i*chunkSize : i*chunkSize+f.sizeOf(number, 1)]
		// A copy, because a chunk that stays must not keep the others of its span in memory.
		f.store.chunks.Add(chunkID{f.id, number}, bytes.Clone(chunk))
		if f.cached {
			whole := f.pin.size + f.count()*md5.Size
			f.store.cache.PutPiece(f.object, whole, number*(chunkSize+md5.Size), seal(chunk))
		}
	}
	return data, nil
}

// seal puts the MD5 of a chunk behind it.
func seal(chunk []byte) []byte {
	sum := md5.Sum(chunk)
	return append(append(make([]byte, 0, len(chunk)+len(sum)), chunk...), sum[:]...)
}

// checkSealed checks a chunk with its MD5.
func checkSealed(data []byte) error {
	n := len(data) - md5.Size
	if n < 0 || md5.Sum(data[:n]) != [md5.Size]byte(data[n:]) {
		return errors.New("its MD5 is another one")
	}
	return nil
}

// get asks the server for a range.
func (f *File) get(ctx context.Context, off, size int64) ([]byte, error) {
	header := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", off, off+size-1)}}
	if f.pin.tag.proves() && !f.pin.tag.bare {
		header.Set("If-Match", `"`+f.pin.tag.value+`"`)
	}
	data, err := f.store.client.Exchange(ctx, remote.Exchange{
		Name: f.Path(), URL: f.store.place.at(f.name), Header: header,
		Read: func(resp *http.Response, body io.Reader) ([]byte, error) { return f.read(resp, body, off, size) },
	})
	return data, named(f.Path(), err)
}

// read reads the answer to a request for a range.
func (f *File) read(resp *http.Response, body io.Reader, off, size int64) ([]byte, error) {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		total, _ := totalOf(resp.Header.Get("Content-Range"))
		if err := f.compare(pinOf(resp.Header, total)); err != nil {
			return nil, remote.Final(err)
		}
		if want := fmt.Sprintf("bytes %d-%d/%d", off, off+size-1, f.pin.size); resp.Header.Get("Content-Range") != want {
			return nil, fmt.Errorf("the range %.60q came, not %s", resp.Header.Get("Content-Range"), want)
		}
	case http.StatusOK:
		if err := f.compare(pinOf(resp.Header, resp.ContentLength)); err != nil {
			return nil, remote.Final(err)
		}
		if off+size > chunkSize {
			return nil, fmt.Errorf("the whole object came, not the %d bytes from %d on", size, off)
		}
		if _, err := io.CopyN(io.Discard, body, off); err != nil {
			return nil, short(err)
		}
	case http.StatusPreconditionFailed:
		return nil, remote.Final(f.mark("its ETag is another one"))
	case http.StatusRequestedRangeNotSatisfiable:
		return nil, remote.Final(f.mark("it is shorter than it was"))
	default:
		return nil, statusError(resp, body)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(body, data); err != nil {
		return nil, short(err)
	}
	return data, nil
}

// short returns the error of a body that ends too early.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the answer is too short: %w", err)
}

// compare returns an error if an answer is of another object than the pinned one.
func (f *File) compare(now pin) error {
	if how := f.pin.difference(now); how != "" {
		return f.mark(how)
	}
	if f.pin.sameUnknown(now) {
		return fmt.Errorf("%s: the server no longer says by what the object could be told from another one", f.Path())
	}
	return nil
}

// mark notes for good that the object has changed.
func (f *File) mark(how string) error {
	f.changed.CompareAndSwap(nil, &changedError{f.Path(), how})
	f.store.changed.CompareAndSwap(nil, f.changed.Load())
	return f.changed.Load()
}

// Check returns nil, or an error that matches [source.ErrChanged] if the object is known to have
// changed. It waits for nothing: now and then it has the server asked, and the next call knows.
func (f *File) Check() error {
	if e := f.changed.Load(); e != nil {
		return e
	}
	now, last := int64(time.Since(f.began)), f.checked.Load()
	if f.copied == nil && now-last >= int64(recheck) && f.checked.CompareAndSwap(last, now) && f.checking.CompareAndSwap(false, true) {
		go func() {
			defer f.checking.Store(false)
			_ = f.look(f.done) // a server that is away says nothing about the object
		}()
	}
	return nil
}

// CheckNow is Check, but asks the server and waits a moment for it. That it can't be asked is no
// change.
func (f *File) CheckNow() error {
	if f.copied == nil && f.changed.Load() == nil {
		ctx, cancel := context.WithTimeout(f.done, lookTime)
		defer cancel()
		_ = f.look(ctx)
	}
	if e := f.changed.Load(); e != nil {
		return e
	}
	return nil
}

// look asks the server whether the object is still the same.
func (f *File) look(ctx context.Context) error {
	found, err := f.store.stat(ctx, f.name)
	if err == nil {
		err = f.compare(found.pin)
	}
	return err
}
