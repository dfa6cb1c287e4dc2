// Package mounted is a source while it is mounted: it answers what other processes ask
// (answer.go), tells how it is (status.go), and saves what was edited (save.go). How it goes
// to the background, is found and is taken away is internal/daemon's.
package mounted

import (
	"log/slog"
	"os"
	"time"

	"lorefs/fs"
	"lorefs/internal/daemon"
	"lorefs/internal/kinds"
)

// Options say what a Mount can't ask its source.
type Options struct {
	// Path is that of the source, Dir the [daemon.Name] of the mount point.
	Path, Dir string
	// CacheSize is the memory for what was decoded of the source.
	CacheSize int64
	Logger    *slog.Logger
	// Tell is what users are told of an error.
	Tell func(error) string
}

// Mount is a source that is mounted.
type Mount struct {
	opts   Options
	source *kinds.Source
	server *fs.Server
	served *daemon.Served
	since  time.Time
	// saves is what the commits and the last save have come to.
	saves saves
}

// New takes over a source that is being served.
func New(source *kinds.Source, server *fs.Server, o Options) *Mount {
	return &Mount{
		opts: o, source: source, server: server,
		served: daemon.NewServed(server, o.Dir, o.Logger), since: time.Now(),
	}
}

// UntilGone returns when the mount is gone. A signal unmounts it.
func (m *Mount) UntilGone(signals <-chan os.Signal) { m.served.UntilGone(signals) }

// Unmount takes the mount away.
func (m *Mount) Unmount() error { return m.server.Unmount() }

// Frames are what those are told who wait for the end of the mount. err is that of Save.
func (m *Mount) Frames(err error) []any {
	return AnswerOf(m.saves.last(), m.source.LeftOut(), err, m.opts.Tell).frames()
}

// Close gives the source back.
func (m *Mount) Close() error { return m.source.Close() }
