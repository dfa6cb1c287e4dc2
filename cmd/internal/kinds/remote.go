package kinds

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"time"

	"lorefs/internal/origin"
	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/remote/objects"
	"lorefs/internal/source"
	"lorefs/internal/userdir"
	"lorefs/nodes"
	"lorefs/nodes/leave"
)

// RemoteOptions are for sources that are on a server.
type RemoteOptions struct {
	// Endpoint is the address of the object store; the default is that of the environment.
	Endpoint string
	// Failed is how long an object that no host gave is not asked for again; the default is for
	// who reads a source once.
	Failed time.Duration
}

// Times returns the options as package remote has them.
func (o RemoteOptions) Times() remote.Times { return remote.Times{Failed: o.Failed} }

// ErrNotLocal means that something can only be done with sources on this machine.
var ErrNotLocal = errors.New("it is on a server, and only local sources can be edited")

// Original is the file of a source, on this machine or on a server.
type Original interface {
	io.ReaderAt
	io.Closer
	// Path names it, for messages if it is on a server.
	Path() string
	Size() int64
	ModTime() time.Time
	// Check and CheckNow return an error that matches [source.ErrChanged] if it has changed.
	Check() error
	CheckNow() error
}

// OpenOriginal opens the file of a source.
func OpenOriginal(ctx context.Context, name string, o *Options) (Original, error) {
	if !origin.IsRemote(name) {
		f, err := source.Open(name)
		if err != nil {
			return nil, err // and no interface of a nil pointer, which callers would close
		}
		if o.Pinned {
			f.Pin()
		}
		return f, nil
	}
	s, err := OpenServer(ctx, name, o.ObjectCache(), o)
	if err != nil {
		return nil, err
	}
	f, err := s.Open(ctx, "")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Distant{f, s}, nil
}

// Distant is a file on a server.
type Distant struct {
	*objects.File
	server *Server
}

// Close closes the file and its server.
func (d *Distant) Close() error { return errors.Join(d.File.Close(), d.server.Close()) }

// Server is an open store with its cache, which may be nil.
type Server struct {
	*objects.Store
	cache *mirror.Cache
}

// Close closes the store and its cache.
func (s *Server) Close() error {
	return errors.Join(s.Store.Close(), s.cacheClose())
}

// OpenServer opens the store that has a source. Closing it closes the cache, too.
func OpenServer(ctx context.Context, name string, cache *mirror.Cache, o *Options) (*Server, error) {
	s := &Server{cache: cache}
	var err error
	s.Store, err = objects.Open(ctx, origin.Parse(name), objects.Options{
		Cache: cache, Endpoint: o.Remote.Endpoint, Offline: o.CASC.CDN.Offline, Times: o.Remote.Times(), Logger: o.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, s.cacheClose())
	}
	return s, nil
}

// ObjectCache returns the cache for what comes from servers, or nil if its folder can't be
// used: then all is only slower.
func (o *Options) ObjectCache() *mirror.Cache {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return OpenMirror(&o.CASC.CDN, log)
}

// Folder is a folder with small files, on this machine or on a server.
type Folder interface {
	iofs.StatFS
	// Check returns an error that matches [source.ErrChanged] if a file has changed.
	Check() error
}

// IsFolder reports whether a source is a folder.
func IsFolder(ctx context.Context, path string, o *Options) (bool, error) {
	if !origin.IsRemote(path) {
		info, err := os.Stat(path)
		return err == nil && info.IsDir(), err
	}
	s, err := OpenServer(ctx, path, nil, o)
	if err != nil {
		return false, err
	}
	defer s.Close()
	is, err := s.IsObject(ctx)
	return !is, err
}

// DistantFolder is a folder on a server.
type DistantFolder struct {
	*objects.Folder
	Server *Server
}

// Close closes the folder and its server.
func (d *DistantFolder) Close() error { return errors.Join(d.Folder.Close(), d.Server.cacheClose()) }

// cacheClose closes the cache of a store that its folder closes.
func (s *Server) cacheClose() error {
	if s.cache == nil {
		return nil
	}
	return s.cache.Close()
}

// OpenDistant opens a folder on a server.
func OpenDistant(ctx context.Context, name string, o *Options) (*DistantFolder, error) {
	s, err := OpenServer(ctx, name, o.ObjectCache(), o)
	if err != nil {
		return nil, err
	}
	d, err := s.OpenFolder(ctx)
	if errors.Is(err, iofs.ErrNotExist) && !s.Lists() {
		err = &listlessError{origin.Shown(name), err}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &DistantFolder{d, s}, nil
}

// listlessError tells what a web server lacks.
type listlessError struct {
	name string
	err  error
}

func (e *listlessError) Error() string {
	return e.name + ": a web server does not say which files it has: it needs a file " + objects.IndexName +
		" there, with the path of a file in each line"
}
func (e *listlessError) Unwrap() error { return e.err }

// Outlive has reads of a source on a server go on after the context that it was opened with has
// ended, as those of a mount have to. Otherwise they end with it, so that a server which sends
// nothing keeps no command from ending.
func (s *Source) Outlive() {
	for _, server := range serversOf(s.Archive) {
		server.Outlive()
	}
}

// leavable returns a tree whose callers can leave if it is read from servers, and the tree itself
// otherwise. CASC storages on a CDN have contexts down to their requests.
func leavable(tree nodes.Tree, a Archive) nodes.Tree {
	servers := serversOf(a)
	if len(servers) == 0 {
		return tree
	}
	return leave.New(tree, func() {
		for _, server := range servers {
			server.EndReads()
		}
	})
}

// distantReader is an archive that may be read from servers, without contexts.
type distantReader interface{ Servers() []*Server }

// serversOf returns the servers that an archive is read from without contexts.
func serversOf(a Archive) []*Server {
	if d, ok := a.(distantReader); ok {
		return d.Servers()
	}
	return nil
}

// ServersIn returns the server that a file or a folder is on, if it is on one.
func ServersIn(opened any) []*Server {
	switch d := opened.(type) {
	case *Distant:
		return []*Server{d.server}
	case *DistantFolder:
		return []*Server{d.Server}
	}
	return nil
}

// OpenMirror opens the cache, or returns nil if that fails: all can be fetched again.
func OpenMirror(opts *CDNOptions, log *slog.Logger) *mirror.Cache {
	dir := opts.CacheDir
	if dir == "" {
		d, err := userdir.Cache("cdn")
		if err != nil {
			log.Warn("nothing is kept of what is fetched", "err", err)
			return nil
		}
		dir = d.Path()
		_ = d.Close() // only its path is needed
	}
	cache, err := mirror.Open(dir, mirror.Options{Limit: opts.CacheLimit, Logger: log})
	if err != nil {
		log.Warn("nothing is kept of what is fetched", "err", err)
		return nil
	}
	return cache
}

// InPlace returns an error if the path of a file on this machine leads to another one by now.
func InPlace(o Original) error {
	if f, ok := o.(*source.File); ok {
		return Changed(f.InPlace())
	}
	return nil
}
