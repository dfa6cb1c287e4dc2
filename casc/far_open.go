package casc

import (
	"context"
	"errors"
	"fmt"

	"lorefs/blte"
	"lorefs/casc/config"
	"lorefs/casc/encoding"
	"lorefs/casc/far"
	"lorefs/casc/internal/format"
)

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
func OpenRemote(ctx context.Context, from far.Remote, build *config.Build, opts RemoteOptions) (*Storage, error) {
	s := newStorage(&far.Objects{From: from, Progress: opts.Progress, Whole: opts.WholeFiles}, opts.Options)
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
	_, remote := s.objects.(*far.Objects)
	return remote
}

// Absent returns the error of a file that is known and not there. It matches ErrNotLocal.
func (s *Storage) Absent() error {
	if s.IsRemote() {
		return format.ErrNowhere
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
	if a, ok := s.archives.(*far.Archives); ok {
		return a.Load(ctx)
	}
	return nil
}

// tableRefs returns the tables that the build configuration names, that of the encoding file first.
func (s *Storage) tableRefs() ([]config.Ref, error) {
	names := []string{"encoding", "root", "install", "download", "size", "vfs-root"}
	for ref, err := range s.BuildConfig.VFS() {
		if err != nil {
			return nil, err
		}
		names = append(names, ref.Name)
	}
	refs := make([]config.Ref, len(names))
	for i, name := range names {
		var err error
		if refs[i], err = s.BuildConfig.Ref(name); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// openRemoteEncoding opens the encoding file. What the build configuration names is found
// without the indexes as far as it lies loose.
func (s *Storage) openRemoteEncoding(ctx context.Context) error {
	a := s.archives.(*far.Archives) //nolint:forcetypeassert // OpenRemote has made it
	refs, err := s.tableRefs()
	if err != nil {
		return err
	}
	for i := range refs {
		if !refs[i].EKey.IsZero() {
			a.Name(refs[i].EKey, refs[i].EncodedSize)
		}
	}
	if refs[0].EKey.IsZero() {
		return config.Format.Bad(0, "the build configuration has no encoding key of the encoding file")
	}
	f := &remoteEncoding{}
	if f.file, err = a.Open(ctx, refs[0].EKey[:]); err == nil {
		f.Content, err = s.contentOf(ctx, f.file, refs[0])
	}
	if err == nil {
		s.encoding, err = encoding.New(ctx, f, f.Size())
	}
	if err != nil {
		return fmt.Errorf("encoding file: %w", err)
	}
	a.Encoded = s.encoding.FindEncoded
	return s.nameRoot(ctx, a, refs[1])
}

// nameRoot finds the encoding keys of the root, of which the build configuration has only the
// content key.
func (s *Storage) nameRoot(ctx context.Context, a *far.Archives, root config.Ref) error {
	if root.CKey.IsZero() || !root.EKey.IsZero() {
		return nil
	}
	entry, err := s.encoding.Find(ctx, root.CKey)
	if errors.Is(err, ErrNotFound) {
		return nil // reading it says so
	}
	for _, ekey := range entry.EKeys {
		a.Name(ekey, 0)
	}
	return err
}

// contentOf opens a file as Storage.open does, for the storage itself.
func (s *Storage) contentOf(ctx context.Context, f *far.Object, ref config.Ref) (*Content, error) {
	d, err := s.openAt(ctx, f.Place(), encoded{key: ref.EKey[:], ckey: ref.CKey, access: access{blocks: s.opts.Blocks}})
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	return newContent(d), nil
}

// remoteEncoding is an encoding file that is far away. Its pages are proven by the MD5s in its
// tables, so they are read without the chunk that they are in, which may have 100 MB.
type remoteEncoding struct {
	*Content
	file *far.Object
}

var _ encoding.PageSource = (*remoteEncoding)(nil)

// ReadPages implements [encoding.PageSource].
func (f *remoteEncoding) ReadPages(ctx context.Context, p []byte, off int64, check func([]byte) error) error {
	if plain, err := f.file.ReadPlain(ctx, p, off, check); plain {
		return err
	}
	if _, err := f.ReadAtContext(ctx, p, off); err != nil {
		return err
	}
	return check(p)
}
