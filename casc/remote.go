package casc

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"time"

	"lorefs/blte"
	"lorefs/casc/config"
	"lorefs/casc/encoding"
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
	Loose(ctx context.Context, f RemoteFile, check func([]byte) error) ([]byte, error)
	// Range returns size bytes of a file from off on, which check proves.
	Range(ctx context.Context, f RemoteFile, off, size int64, check func([]byte) error) ([]byte, error)
	// Together returns files of an archive, in the order of their places, each as a whole, which
	// check proves by their numbers. It takes one request for files with no more than MaxGap
	// bytes between them. What can't be had so is nil, also without an error, and is asked for
	// by Range then.
	Together(ctx context.Context, archive keys.Key, files []RemoteFile, check func(i int, data []byte) error) ([][]byte, error)
	// Begin returns as much of the first size bytes of a file as proven says is right, which
	// may be nothing.
	Begin(ctx context.Context, f RemoteFile, size int64, proven func([]byte) (int, error)) ([]byte, error)
}

// RemoteFile is an encoded file of a Remote.
type RemoteFile struct {
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

// RemoteOptions are the options of OpenRemote.
type RemoteOptions struct {
	Options
	// Progress is called while the indexes are read for the first time, which are many, with
	// how many of all are read. Default: no reports.
	Progress func(done, total int)
	// WholeFiles says that all of each file will be read, so that it is better fetched by fewer
	// and larger requests.
	WholeFiles bool
}

// OpenRemote opens a build of a storage that is far away. The build must have the keys of
// both configurations.
//
// It reads the configurations and the beginning of the encoding file. Anything else is read
// when it is needed: the pages of the encoding file one by one or, if many are needed at once,
// all of them; the indexes when a file is first opened that is not found without them. Every
// file is taken for local until it is opened.
func OpenRemote(ctx context.Context, from Remote, build *config.Build, opts RemoteOptions) (*Storage, error) {
	s := newStorage(&remoteObjects{from: from, progress: opts.Progress, whole: opts.WholeFiles}, opts.Options)
	s.Build = *build
	err := s.inSteps(ctx, s.readRemoteConfigs, s.checkProduct, s.readKeys, s.openArchives, s.openRemoteEncoding)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// readRemoteConfigs reads the configurations, without that of patches, which nobody reads from
// far away.
func (s *Storage) readRemoteConfigs(ctx context.Context) (err error) {
	if s.BuildConfig, err = s.readConfig(ctx, "build-config", s.Build.BuildKey); err != nil {
		return fmt.Errorf("build configuration: %w", err)
	}
	if s.CDNConfig, err = s.readConfig(ctx, "cdn-config", s.Build.CDNKey); err != nil {
		return fmt.Errorf("CDN configuration: %w", err)
	}
	s.cdns = []*config.Config{s.CDNConfig}
	return nil
}

// IsRemote reports whether the storage is far away, so that looking whether something is
// there takes as long as reading it.
func (s *Storage) IsRemote() bool {
	_, remote := s.objects.(*remoteObjects)
	return remote
}

// Absent returns the error of a file that is known and not there. It matches ErrNotLocal.
func (s *Storage) Absent() error {
	if s.IsRemote() {
		return errNowhere
	}
	return ErrNotLocal
}

// Unreached reports whether an error says no more than that something far away could not be
// read now. Nothing can stand for what that is, and it is no damage.
func (s *Storage) Unreached(err error) bool {
	if err == nil || !s.IsRemote() {
		return false
	}
	_, format := errors.AsType[*FormatError](err)
	_, chunk := errors.AsType[*blte.FormatError](err)
	said := format || chunk
	for _, known := range []error{ErrNotFound, ErrNotLocal, ErrNoRoot, ErrUnsupported, blte.ErrNoKey} {
		said = said || errors.Is(err, known)
	}
	return !said
}

// LoadIndexes reads the indexes of a storage that is far away, unless they have been read, so
// that no file has to wait for them. Other storages have them always.
func (s *Storage) LoadIndexes(ctx context.Context) error {
	if a, ok := s.archives.(*remoteArchives); ok {
		_, err := a.indexes.get(ctx)
		return err
	}
	return nil
}

// remoteObjects makes a Remote the objects of a storage.
type remoteObjects struct {
	from     Remote
	progress func(done, total int)
	whole    bool
}

// atOnce returns the size of the largest file that is fetched as a whole.
func (r *remoteObjects) atOnce() int64 {
	if r.whole {
		return maxAllAtOnce
	}
	return maxAtOnce
}

func (r *remoteObjects) builds(string) (*buildList, error) { return nil, nil }

func (r *remoteObjects) newBuilds(*buildList) (*buildList, error) { return nil, nil }

func (r *remoteObjects) config(ctx context.Context, key keys.Key) (*config.Config, []byte, error) {
	data, err := r.from.Config(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	c, err := config.Read(data, key)
	return c, data, err
}

func (r *remoteObjects) configs(func(keys.Key, *config.Config), func(error)) {}

func (r *remoteObjects) configTime(keys.Key) (time.Time, error) {
	return time.Time{}, fmt.Errorf("casc: nothing tells when a remote build was made: %w", errors.ErrUnsupported)
}

func (r *remoteObjects) archives(cdns []*config.Config, opts archiveOptions) (archives, error) {
	return newRemoteArchives(r, cdns[0], opts)
}

// openRemoteEncoding opens the encoding file. What the build configuration names is found
// without the indexes as far as it lies loose.
func (s *Storage) openRemoteEncoding(ctx context.Context) error {
	a := s.archives.(*remoteArchives) //nolint:forcetypeassert // OpenRemote has made it
	names := []string{"encoding", "root", "install", "download", "size", "vfs-root"}
	for ref, err := range s.BuildConfig.VFS() {
		if err != nil {
			return err
		}
		names = append(names, ref.Name)
	}
	refs := make([]config.Ref, len(names))
	for i, name := range names {
		var err error
		if refs[i], err = s.BuildConfig.Ref(name); err != nil {
			return err
		}
		if !refs[i].EKey.IsZero() {
			a.named[refs[i].EKey.Short()] = namedFile{refs[i].EKey, refs[i].EncodedSize}
		}
	}
	if refs[0].EKey.IsZero() {
		return config.Format.Bad(0, "the build configuration has no encoding key of the encoding file")
	}
	f := &remoteEncoding{}
	var err error
	if f.file, err = a.file(ctx, refs[0].EKey[:]); err == nil {
		f.Content, err = s.contentOf(ctx, f.file, refs[0])
	}
	if err == nil {
		s.encoding, err = encoding.New(ctx, f, f.Size())
	}
	if err != nil {
		return fmt.Errorf("encoding file: %w", err)
	}
	a.encoded = s.encoding.FindEncoded
	return s.nameRoot(ctx, a, refs[1])
}

// nameRoot finds the encoding keys of the root, of which the build configuration has only the
// content key.
func (s *Storage) nameRoot(ctx context.Context, a *remoteArchives, root config.Ref) error {
	if root.CKey.IsZero() || !root.EKey.IsZero() {
		return nil
	}
	entry, err := s.encoding.Find(ctx, root.CKey)
	if errors.Is(err, ErrNotFound) {
		return nil // reading it says so
	}
	for _, ekey := range entry.EKeys {
		a.named[ekey.Short()] = namedFile{key: ekey}
	}
	return err
}

// contentOf opens a file as Storage.open does, for the storage itself.
func (s *Storage) contentOf(ctx context.Context, f *remoteFile, ref config.Ref) (*Content, error) {
	d, err := s.openAt(ctx, f.place(), encoded{key: ref.EKey[:], ckey: ref.CKey, access: access{blocks: s.opts.Blocks}})
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	return newContent(d), nil
}

// remoteEncoding is an encoding file that is far away. Its pages are proven by the MD5s in its
// tables, so they are read without the chunk that they are in, which may have 100 MB.
type remoteEncoding struct {
	*Content
	file *remoteFile
}

var _ encoding.PageSource = (*remoteEncoding)(nil)

// ReadPages implements [encoding.PageSource].
func (f *remoteEncoding) ReadPages(ctx context.Context, p []byte, off int64, check func([]byte) error) error {
	at, plain := f.file.plain(off, int64(len(p)))
	if !plain {
		if _, err := f.ReadAtContext(ctx, p, off); err != nil {
			return err
		}
		return check(p)
	}
	data, err := f.file.from.Range(ctx, f.file.RemoteFile, at, int64(len(p)), check)
	copy(p, data)
	return err
}

// isGone reports whether an error says that a remote object is nowhere.
func isGone(err error) bool { return errors.Is(err, iofs.ErrNotExist) }
