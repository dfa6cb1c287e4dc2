package far

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"time"

	"lorefs/casc/config"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
)

// Remote has the objects of a storage that is far away, such as on the hosts of a CDN. It
// keeps what was read, asks again after a failure, and lets all who want the same at the same
// time share one request. What it returns must not be changed. If an object is nowhere, the
// error matches io/fs.ErrNotExist.
//
// The functions that prove what came are called for whatever any host sends: an error is a
// failure of the host, so that the next one is asked.
type Remote interface {
	// Config returns a configuration, which the MD5 in its name has proven.
	Config(ctx context.Context, key keys.Key) ([]byte, error)
	// Index returns the index of an archive, which check proves.
	Index(ctx context.Context, archive keys.Key, check func([]byte) error) ([]byte, error)
	// Loose returns all of a file that is in no archive, which check proves. Its size is unknown.
	Loose(ctx context.Context, f File, check func([]byte) error) ([]byte, error)
	// Range returns size bytes of a file from off on, which check proves.
	Range(ctx context.Context, f File, off, size int64, check func([]byte) error) ([]byte, error)
	// Together returns files of an archive, in the order of their places, each as a whole, which
	// check proves by their numbers. It takes one request for files with no more than MaxGap
	// bytes between them. What can't be had so is nil, also without an error, and is asked for
	// by Range then.
	Together(ctx context.Context, archive keys.Key, files []File, check func(i int, data []byte) error) ([][]byte, error)
	// Begin returns as much of the first size bytes of a file as proven says is right, which
	// may be nothing.
	Begin(ctx context.Context, f File, size int64, proven func([]byte) (int, error)) ([]byte, error)
}

// File is an encoded file of a Remote.
type File struct {
	Key keys.Key
	// Archive is the archive that has the file, Off where it begins there. Without an archive
	// it is a loose file.
	Archive keys.Key
	Off     int64
	// Size is its size.
	Size int64
	// Own means that the storage can't be read without it, so that it should be kept longer
	// than others.
	Own bool
	// Guess means that it may well be somewhere else, which will be asked then: a failure is not
	// worth a second try.
	Guess bool
}

// Objects makes a Remote the objects of a storage.
type Objects struct {
	From     Remote
	Progress func(done, total int)
	Whole    bool
}

// atOnce returns the size of the largest file that is fetched as a whole.
func (r *Objects) atOnce() int64 {
	if r.Whole {
		return maxAllAtOnce
	}
	return maxAtOnce
}

// Builds implements [store.Objects].
func (r *Objects) Builds(string) (*store.Builds, error) { return nil, nil }

// NewBuilds implements [store.Objects].
func (r *Objects) NewBuilds(*store.Builds) (*store.Builds, error) { return nil, nil }

// Config implements [store.Objects].
func (r *Objects) Config(ctx context.Context, key keys.Key) (*config.Config, []byte, error) {
	data, err := r.From.Config(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	c, err := config.Read(data, key)
	return c, data, err
}

// Configs implements [store.Objects].
func (r *Objects) Configs(func(keys.Key, *config.Config), func(error)) {}

// ConfigTime implements [store.Objects].
func (r *Objects) ConfigTime(keys.Key) (time.Time, error) {
	return time.Time{}, fmt.Errorf("casc: nothing tells when a remote build was made: %w", errors.ErrUnsupported)
}

// Archives implements [store.Objects].
func (r *Objects) Archives(cdns []*config.Config, opts store.Options) (store.Archives, error) {
	return newRemoteArchives(r, cdns[0], opts)
}

// IsGone reports whether an error says that a remote object is nowhere.
func IsGone(err error) bool { return errors.Is(err, iofs.ErrNotExist) }
