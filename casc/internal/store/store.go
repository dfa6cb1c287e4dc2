// Package store says what a storage is read from, wherever that is: packages folder and far have it.
package store

import (
	"context"
	"log/slog"
	"time"

	"lorefs/blte"
	"lorefs/casc/config"
	"lorefs/casc/keys"
	"lorefs/internal/cache"
)

// Objects gives the objects of a storage, by kind and key. A Storage knows only this
// interface, so it does not matter to it where its objects are.
type Objects interface {
	// Builds returns the list of installed builds, or nil if there is none. file is the name of the
	// list, or empty.
	Builds(file string) (*Builds, error)
	// NewBuilds returns the list as it is now, or nil if it is still the one before.
	NewBuilds(before *Builds) (*Builds, error)

	// Config reads a configuration and also returns its text. Without it the error matches
	// io/fs.ErrNotExist.
	Config(ctx context.Context, key keys.Key) (*config.Config, []byte, error)
	// Configs visits all configurations. fault is called for those that can't be read.
	Configs(visit func(key keys.Key, c *config.Config), fault func(error))
	// ConfigTime returns when a configuration was put there.
	ConfigTime(key keys.Key) (time.Time, error)

	// Archives opens the archives. cdns are the configurations that list them.
	Archives(cdns []*config.Config, opts Options) (Archives, error)
}

// Options has all that opening archives needs besides their objects.
type Options struct {
	Blocks  blte.BlockCache
	Numbers *Numbers
	Index   cache.Store
	Log     *slog.Logger
}

// Builds is a .build.info or .build.db.
type Builds struct {
	// Name is the name in the folder, kind the name without the dot.
	Name, Kind string
	Parse      func([]byte) ([]config.Build, error)
	Stamp      Stamp
	Data       []byte
	All        []config.Build
}

// Stamp changes when somebody writes to a file.
type Stamp struct {
	Size    int64
	ModTime time.Time
}

// Same reports whether nobody has written in between.
func (s Stamp) Same(other Stamp) bool { return s.Size == other.Size && s.ModTime.Equal(other.ModTime) }
