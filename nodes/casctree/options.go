package casctree

import (
	"context"
	"io"
	iofs "io/fs"
	"log/slog"
	"time"

	"lorefs/casc"
	"lorefs/nodes/blockcache"
)

// Options are what New may be told. The zero value is right for a storage whose root
// has names.
type Options struct {
	// Missing lists files that are known but not local too.
	Missing bool
	// ListFiles open lists of names, of lines ID;NAME or NAME, for roots that have
	// none. The first that has a name counts. Each is opened once to see whether it is
	// known, and once more if it is not.
	ListFiles []func() (io.ReadCloser, error)
	// Index keeps the table of names, so that the next New reads neither root nor list
	// files. Default: it is made anew each time.
	Index casc.IndexStore
	// Blocks keeps pages of manifests; that of decoded chunks is the storage's own
	// option. Default: one of 32 MiB.
	Blocks *blockcache.View
	// ModTime is that of all files and directories. Default: the zero time of Unix.
	ModTime time.Time
	// RefreshEvery is how long the tree believes that nobody has written to the
	// storage. Default: 5 seconds; below 0 it is looked at only when a read fails.
	RefreshEvery time.Duration
	// Logger is told of files that can't be read. Default: nobody is.
	Logger *slog.Logger
}

const (
	defaultBlocks  = 32 << 20
	defaultRefresh = 5 * time.Second
)

func (o *Options) setDefaults() {
	if o.Blocks == nil {
		o.Blocks = blockcache.New(defaultBlocks).View()
	}
	if o.ModTime.IsZero() {
		o.ModTime = time.Unix(0, 0)
	}
	if o.RefreshEvery == 0 {
		o.RefreshEvery = defaultRefresh
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Index == nil {
		o.Index = noStore{}
	}
}

// noStore keeps nothing.
type noStore struct{}

func (noStore) Load(string) ([]byte, error) { return nil, iofs.ErrNotExist }

func (noStore) Save(string, []byte) error { return nil }

// reader makes reading end with a context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
