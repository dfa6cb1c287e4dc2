package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"

	"lorefs/internal/diskspace"
	"lorefs/internal/remote"
)

// copy copies an object that can't be pinned, as a whole, to a file that goes with f. All of it
// is one answer, so it is of one version.
func (f *File) copy(ctx context.Context) error {
	if f.pin.size == 0 {
		return nil
	}
	to, err := os.CreateTemp("", "lorefs-copy-")
	if err != nil {
		return err
	}
	f.copied = to
	if runtime.GOOS != "windows" { // where an open file can't be removed
		if err := os.Remove(to.Name()); err != nil {
			return err
		}
	}
	_, err = f.store.client.Exchange(ctx, remote.Exchange{
		Name: f.Path(), URL: f.store.place.at(f.name), Long: true,
		Read: func(resp *http.Response, body io.Reader) ([]byte, error) { return nil, f.fill(resp, body) },
	})
	return err
}

// fill writes an answer into the copy, from its beginning.
func (f *File) fill(resp *http.Response, body io.Reader) error {
	if resp.StatusCode != http.StatusOK {
		return statusError(resp, body)
	}
	p := pinOf(resp.Header, resp.ContentLength)
	room := diskspace.NewGuard(os.TempDir())
	if p.size > 0 { // else fullDisk asks as it comes, which may be without an end
		if err := room.Take(p.size); err != nil {
			return remote.Final(err)
		}
	}
	if _, err := f.copied.Seek(0, io.SeekStart); err != nil {
		return remote.Final(err)
	}
	if err := f.copied.Truncate(0); err != nil {
		return remote.Final(err)
	}
	w := &fullDisk{w: f.copied, room: room}
	n, err := io.Copy(w, body)
	switch {
	case w.err != nil:
		return remote.Final(w.err)
	case err != nil:
		return short(err)
	case p.size >= 0 && n != p.size:
		return fmt.Errorf("%d bytes came, not %d: %w", n, p.size, io.ErrUnexpectedEOF)
	}
	f.pin = pin{size: n, modified: p.modified}
	return nil
}

// fullDisk remembers that a write failed, for which the server can do nothing. It leaves room for
// others, whatever length the server has stated.
type fullDisk struct {
	w    io.Writer
	room *diskspace.Guard
	err  error
}

func (d *fullDisk) Write(p []byte) (n int, err error) {
	if err = d.room.Take(int64(len(p))); err == nil {
		n, err = d.w.Write(p)
	}
	d.err = errors.Join(d.err, err)
	return n, err
}

// removeCopy removes a copy that may be gone already.
func removeCopy(name string) error {
	if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
