package kinds

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"lorefs/geometry"
	"lorefs/internal/origin"
	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/remote/objects"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/leave"
	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// RemoteOptions are for sources that are on a server.
type RemoteOptions struct {
	// Endpoint is the address of the object store; the default is that of the environment.
	Endpoint string
	// Failed is how long an object that no host gave is not asked for again; the default is for
	// who reads a source once.
	Failed time.Duration
}

func (o RemoteOptions) times() remote.Times { return remote.Times{Failed: o.Failed} }

// ErrNotLocal means that something can only be done with sources on this machine.
var ErrNotLocal = errors.New("it is on a server, and only local sources can be edited")

// original is the file of a source, on this machine or on a server.
type original interface {
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

// openOriginal opens the file of a source.
func openOriginal(ctx context.Context, name string, o *Options) (original, error) {
	if !origin.IsRemote(name) {
		f, err := source.Open(name)
		if err != nil {
			return nil, err // and no interface of a nil pointer, which callers would close
		}
		if o.Held {
			f.Hold()
		}
		return f, nil
	}
	s, err := openServer(ctx, name, o.objectCache(), o)
	if err != nil {
		return nil, err
	}
	f, err := s.Open(ctx, "")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &distant{f, s}, nil
}

// distant is a file on a server.
type distant struct {
	*objects.File
	server *server
}

func (d *distant) Close() error { return errors.Join(d.File.Close(), d.server.Close()) }

// server is an open store with its cache, which may be nil.
type server struct {
	*objects.Store
	cache *mirror.Cache
}

func (s *server) Close() error {
	return errors.Join(s.Store.Close(), s.cacheClose())
}

// openServer opens the store that has a source. Closing it closes the cache, too.
func openServer(ctx context.Context, name string, cache *mirror.Cache, o *Options) (*server, error) {
	s := &server{cache: cache}
	var err error
	s.Store, err = objects.Open(ctx, origin.Parse(name), objects.Options{
		Cache: cache, Endpoint: o.Remote.Endpoint, Offline: o.CASC.CDN.Offline, Times: o.Remote.times(), Logger: o.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, s.cacheClose())
	}
	return s, nil
}

// objectCache returns the cache for what comes from servers, or nil if its folder can't be
// used: then all is only slower.
func (o *Options) objectCache() *mirror.Cache {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return openMirror(&o.CASC.CDN, log)
}

// findDistant is Find for a source on a server.
func findDistant(ctx context.Context, name, kind string, o *Options) (*Kind, error) {
	at := origin.Parse(name)
	if err := at.Check(); err != nil {
		return nil, &Error{Err: err}
	}
	for _, k := range All() {
		if k.Name == kind {
			return k, nil
		}
	}
	if at.Scheme == origin.CDN || onlyOfMirror(&o.CASC) {
		return cascKind(), nil
	}
	s, err := openServer(ctx, name, o.objectCache(), o)
	if err != nil {
		return nil, Unreadable(name, err)
	}
	defer s.Close()
	k, err := s.kind(ctx)
	if err == nil && k == nil {
		err = errorf("%s: %w", at.Shown(), ErrUnknown)
	}
	return k, Unreadable(name, err)
}

// onlyOfMirror reports whether options say that the source is a mirror, so that nobody need be
// asked for its kind.
func onlyOfMirror(o *CASCOptions) bool {
	return o.CDN.Offline || !o.Storage.BuildKey.IsZero() && !o.Storage.CDNKey.IsZero()
}

// kind returns the kind of what the store has, or nil.
func (s *server) kind(ctx context.Context) (*Kind, error) {
	is, err := s.IsObject(ctx)
	switch {
	case err != nil:
		return nil, err
	case !is:
		return s.kindOfTree(ctx)
	}
	f, err := s.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	format, err := capture.Detect(f, f.Size())
	if err != nil || format != 0 {
		return packetsKind(), err
	}
	for _, b := range bundles {
		if is, err := b.Detect(f, f.Size()); is || err != nil {
			return bundleKind(b), err
		}
	}
	return dataCenterKind(), nil
}

// kindOfTree looks at the names at the top of a tree, and in the folders there.
func (s *server) kindOfTree(ctx context.Context) (*Kind, error) {
	count := 0
	var kind *Kind
	for name, err := range s.Top(ctx) {
		if errors.Is(err, iofs.ErrNotExist) {
			// Only a mirror can be read without a list of its files.
			return cascKind(), nil
		}
		if err != nil {
			return nil, err
		}
		count++
		if k := kindOfName(name); k != nil {
			return k, nil
		}
	}
	if count == 0 {
		return nil, errorf("%s: nothing is there", s.Origin().Shown())
	}
	d, err := s.OpenFolder(ctx)
	if err == nil && anyBelow(d) {
		kind = packetsKind()
	}
	return kind, err
}

// kindOfName returns the kind of a tree that has a name at its top, or nil.
func kindOfName(name string) *Kind {
	switch dir, isDir := strings.CutSuffix(name, "/"); {
	case isDir && (dir == "config" || dir == "data"), name == ".build.info":
		return cascKind()
	case !isDir && geometry.IsFile(name):
		return worldKind()
	case !isDir:
		if n, ok := protocol.ParseFileName(name); ok && !n.Script {
			return packetsKind()
		}
	}
	return nil
}

// anyBelow reports whether a folder directly below the top has definitions.
func anyBelow(d *objects.Folder) bool {
	top, err := d.ReadDir(".")
	if err != nil {
		return false
	}
	if anyDefinition(d, ".", top) {
		return true
	}
	for _, e := range top {
		if !e.IsDir() {
			continue
		}
		below, err := d.ReadDir(e.Name())
		if err == nil && anyDefinition(d, path.Clean(e.Name()), below) {
			return true
		}
	}
	return false
}

// folder is a folder with small files, on this machine or on a server.
type folder interface {
	iofs.StatFS
	// Check returns an error that matches [source.ErrChanged] if a file has changed.
	Check() error
}

// distantFolder is a folder on a server.
type distantFolder struct {
	*objects.Folder
	server *server
}

func (d *distantFolder) Close() error { return errors.Join(d.Folder.Close(), d.server.cacheClose()) }

// cacheClose closes the cache of a store that its folder closes.
func (s *server) cacheClose() error {
	if s.cache == nil {
		return nil
	}
	return s.cache.Close()
}

// openDistant opens a folder on a server.
func openDistant(ctx context.Context, name string, o *Options) (*distantFolder, error) {
	s, err := openServer(ctx, name, o.objectCache(), o)
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
	return &distantFolder{d, s}, nil
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
	for _, server := range serversOf(s.archive) {
		server.Outlive()
	}
}

// leavable returns a tree whose callers can leave if it is read from servers, and the tree itself
// otherwise. CASC storages on a CDN have contexts down to their requests.
func leavable(tree nodes.Tree, a archive) nodes.Tree {
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

// serversOf returns the servers that an archive is read from without contexts.
func serversOf(a archive) (all []*server) {
	add := func(opened any) {
		switch a := opened.(type) {
		case *distant:
			all = append(all, a.server)
		case *distantFolder:
			all = append(all, a.server)
		}
	}
	addWorld := func(w *world) {
		if w != nil && w.distant != nil {
			all = append(all, w.distant.server)
		}
	}
	switch a := a.(type) {
	case *DataCenter:
		add(a.file)
		addWorld(a.world)
	case *bundled:
		add(a.file)
	case *packets:
		add(a.file)
		add(a.folder)
	case *world:
		addWorld(a)
	}
	return all
}
