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

// Options are the options of New. The zero value is right for a storage whose root has
// names.
type Options struct {
	// Missing also lists known files that are not local.
	Missing bool
	// ListFiles are lists of names, of lines ID;NAME or NAME, for roots without names. The
	// first list that has a name counts. Each is opened once to compute its hash, and again
	// if the table must be made.
	ListFiles []ListFile
	// Index keeps the table of names, so that the next New reads neither root nor list
	// files. Default: the table is made anew each time.
	Index casc.IndexStore
	// Blocks keeps pages of manifests. The cache of decoded chunks is an option of the
	// storage. Default: a cache of 32 MiB.
	Blocks *blockcache.View
	// ModTime is the time of all files and directories. Default: the zero time of Unix.
	ModTime time.Time
	// RefreshEvery is how often the tree checks whether the storage was written to.
	// Default: 5 seconds; below 0 it checks only when a read fails.
	RefreshEvery time.Duration
	// Logger gets the errors of files that can't be read. Default: none.
	Logger *slog.Logger
}

// ListFile is a list of names.
type ListFile struct {
	// Messages call it by Name.
	Name string
	Open func() (io.ReadCloser, error)
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

// reader stops reading when its context is done.
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
