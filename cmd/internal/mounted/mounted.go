package mounted

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/fs"
)

// Options has all that a Mount needs besides its source.
type Options struct {
	// Path is the path of the source, and Dir the [daemon.Name] of the mount point.
	Path, Dir string
	// Made are the folders that were made for the mount point, see [daemon.Notes].
	Made   []string
	Logger *slog.Logger
	// Opened says how the source was opened.
	Opened Opened
	// Tell returns the text of an error for users, and Code the exit code of a command that
	// fails with it.
	Tell func(error) string
	Code func(error) int
}

// Opened says what is mounted and how it was opened, for commands that read the same. Only the user
// of the mount is told it: there may be secrets in it.
type Opened struct {
	// Source is the source as it has to be opened, and not only shown.
	Source string `json:"source"`
	// Options has the values of the options that are not their defaults, by their names.
	Options map[string][]string `json:"options"`
	// Editable says that the source is edited there, and Unsaved how many edits are not saved.
	Editable bool  `json:"editable"`
	Unsaved  int64 `json:"unsaved"`
}

// Mount is a source that is mounted.
type Mount struct {
	opts   Options
	source *kinds.Source
	server *fs.Server
	served *daemon.Served
	since  time.Time
	// saves has the results of the last save.
	saves saves
	// saved is closed when Save is done, and last is then what came of it.
	saved chan struct{}
	last  Answer
	// asked counts requests of commands, besides those for the status.
	asked atomic.Uint64
	// ending is the request to unmount that is being granted. It says how to save at the end, or
	// to save nothing. It is nil if the mount ends by itself.
	ending atomic.Pointer[daemon.Request]
}

// New returns the Mount of a source that is being served.
func New(source *kinds.Source, server *fs.Server, o Options) *Mount {
	return &Mount{
		opts: o, source: source, server: server,
		served: daemon.NewServed(server, o.Dir, o.Logger), since: time.Now(),
		saved: make(chan struct{}),
	}
}

// UntilGone unmounts on a signal, and returns when the mount is gone.
func (m *Mount) UntilGone(signals <-chan os.Signal) { m.served.UntilGone(signals) }

// Unmount unmounts at once.
func (m *Mount) Unmount() error { return m.server.Unmount() }

// Prepare prepares the source.
func (m *Mount) Prepare(ctx context.Context) error { return m.source.Prepare(ctx) }

// Close closes the source.
func (m *Mount) Close() error { return m.source.Close() }
