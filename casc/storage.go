package casc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"lorefs/blte"
	"lorefs/casc/config"
	"lorefs/casc/encoding"
	"lorefs/casc/internal/folder"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/flight"
)

// Options are the options of Open. The zero value is right for an install of one product.
type Options struct {
	// Product is the program's code, for folders with several. Default: the first active
	// one.
	Product string
	// BuildName is the version, the number or the name of the build, in place of its key.
	BuildName string
	// BuildKey and CDNKey name the configurations, for folders without .build.info or with
	// several builds. Default: those of .build.info, or the only ones there are.
	BuildKey, CDNKey keys.Key
	// BuildFile is the name of a file in the folder that lists the builds, as .build.info does.
	// Default: .build.info or .build.db.
	BuildFile string
	// Keys are used besides the published keys and those of the build's key ring.
	Keys blte.KeyRing
	// Names are for roots without names.
	Names *root.ListFile
	// Locale leaves out files that are only for other languages than this one and its
	// Fallback. Default: all files.
	Locale root.Locale
	// Blocks keeps decoded chunks, numbered by encoding key, and parts of the local index.
	// Default: each open file keeps one chunk, and the index stays in memory.
	Blocks blte.BlockCache
	// FillMissingKeys makes files readable that have chunks whose key is not known: zeros
	// stand for those chunks, and Content.Gaps says where. Such a file can't be compared with
	// its content key. What the storage itself needs is never filled, and Verify ignores the
	// option. Default: reading such a chunk is an error.
	FillMissingKeys bool
	// Index keeps the table of all indexes of a mirror for the next run. Default: the table
	// is made anew each time.
	Index IndexStore
	// Logger gets the faults in spite of which the storage can be used. Default: none.
	Logger *slog.Logger
}

// IndexStore keeps what takes long to compute for the next run. What it loads is checked;
// its errors are logged and otherwise ignored. It must not change the data that it saves,
// which stays in use.
type IndexStore interface {
	// Load returns what was saved under key, or an error that matches [iofs.ErrNotExist].
	Load(key string) ([]byte, error)
	// Save may keep data and write it later, so data must not be changed any more.
	Save(key string, data []byte) error
}

// Storage is an open storage. It is safe for parallel use.
type Storage struct {
	// Build is the row of .build.info. In folders without one only BuildKey and CDNKey are
	// set.
	Build config.Build
	// BuildConfig is the build configuration, CDNConfig that of the CDN, or nil.
	BuildConfig, CDNConfig *config.Config

	objects store.Objects
	opts    Options
	// others are the active products besides the open one, if no product was asked for.
	others   []string
	log      *slog.Logger
	keys     blte.KeyRing
	archives store.Archives
	encoding *encoding.File
	configs  []ConfigFile
	// cdns are all configurations of the CDN that are local, or the one in use.
	cdns []*config.Config

	// faults are the faults that Open found.
	faults []error

	// root has what the last reading of the root found.
	root struct {
		mu     sync.Mutex // not held while reading, because Problems must not wait
		kind   string
		faults []error
	}
	// files are the files of the root, read when first asked for.
	files struct {
		reads flight.Group[struct{}, rootFiles]
		now   atomic.Pointer[rootFiles]
	}
	names nameIndex
	specs specCache
	// proven are the files whose content was compared with its key. encrypted has the
	// content keys for that.
	proven    *lru.Cache[store.EncodingKey, struct{}]
	encrypted struct {
		makes flight.Group[struct{}, encoding.ContentKeys]
		keys  atomic.Pointer[encoding.ContentKeys]
	}
	blocks store.Numbers
	update update
}

// OpenPath opens the storage in a folder of the operating system. It follows links.
func OpenPath(dir string, opts Options) (*Storage, error) {
	fsys, err := folder.Open(dir)
	if err != nil {
		return nil, err
	}
	return open(fsys, opts)
}

// Open opens a storage: an install with .build.info or .build.db, the data folder of one,
// or a mirror. The files of fsys must implement io.ReaderAt. The root is read when it is
// first needed.
func Open(fsys iofs.FS, opts Options) (*Storage, error) { return open(folder.AnyCase{FS: fsys}, opts) }

func open(fsys folder.AnyCase, opts Options) (*Storage, error) {
	ctx := context.Background() // nobody has to wait for a folder
	objects, err := folder.New(fsys)
	if err != nil {
		return nil, err
	}
	s := newStorage(objects, opts)
	if err := s.inSteps(ctx, s.findBuild, s.readConfigs, s.checkProduct, s.readKeys, s.openArchives, s.openEncoding); err != nil {
		return nil, err
	}
	return s, nil
}

// inSteps opens the storage. After an error it is closed.
func (s *Storage) inSteps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return nil
}

func newStorage(from store.Objects, opts Options) *Storage {
	s := &Storage{objects: from, opts: opts, log: opts.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.proven, err = lru.New[store.EncodingKey, struct{}](maxProven); err != nil {
		panic(fmt.Sprintf("casc: BUG: %v", err))
	}
	return s
}

// Close closes the archives and indexes, including those that Refresh replaced and that are
// still in use.
func (s *Storage) Close() error {
	if s.archives == nil {
		return nil
	}
	return s.archives.Close()
}

// addFault notes a fault in spite of which the storage can be used. Only Open calls it.
func (s *Storage) addFault(err error) {
	s.faults = append(s.faults, err)
	s.warn(err)
}

func (s *Storage) warn(err error) {
	s.log.LogAttrs(context.Background(), slog.LevelWarn, "the storage is damaged or not complete", slog.Any("err", err))
}

// Problems returns the faults in spite of which the storage can be used, such as a damaged
// index file that an older one stands in for. Those of the root are known after Files or
// Walk.
func (s *Storage) Problems() []error {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	return slices.Concat(s.faults, s.root.faults)
}

// ModTime returns when the build was installed: the time of its configuration file, which
// playing the game does not change.
func (s *Storage) ModTime() (time.Time, error) { return s.objects.ConfigTime(s.Build.BuildKey) }

// Encoding returns the encoding file.
func (s *Storage) Encoding() *encoding.File { return s.encoding }

// findBuild reads the list of builds or, without one, all configurations.
func (s *Storage) findBuild(context.Context) error {
	list, err := s.objects.Builds(s.opts.BuildFile)
	if err != nil {
		return err
	}
	if list == nil {
		return s.searchConfigs()
	}
	s.configs = append(s.configs, ConfigFile{Name: list.Kind, Data: list.Data})
	s.update.list = list
	return s.selectBuild(list.All)
}

// selectBuild takes the build of Options, or the active one.
func (s *Storage) selectBuild(builds []config.Build) (err error) {
	if s.opts.BuildName != "" {
		if err := s.nameBuild(builds); err != nil {
			return err
		}
	}
	if !s.opts.BuildKey.IsZero() {
		i := slices.IndexFunc(builds, func(b config.Build) bool { return b.BuildKey == s.opts.BuildKey })
		if s.Build.BuildKey = s.opts.BuildKey; i >= 0 {
			s.Build = builds[i]
		}
		s.update.list = nil // the active one need not be this one
	} else if s.Build, err = config.SelectBuild(builds, s.opts.Product); err != nil {
		return err
	} else if all := config.ActiveProducts(builds); s.opts.Product == "" && len(all) > 1 {
		s.others = slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == s.Build.Product })
		s.log.Warn("several products are installed, and one is open",
			slog.String("open", s.Build.Product), slog.String("installed", strings.Join(all, ", ")))
	}
	if !s.opts.CDNKey.IsZero() {
		s.Build.CDNKey = s.opts.CDNKey
	}
	return nil
}

// readKeys collects the encryption keys.
func (s *Storage) readKeys(ctx context.Context) error {
	s.keys = blte.PublishedKeys()
	if !s.Build.KeyRing.IsZero() {
		if err := s.readKeyRing(ctx); err != nil {
			s.addFault(fmt.Errorf("key ring: %w", err))
		}
	}
	maps.Copy(s.keys, s.opts.Keys)
	return nil
}

// KeySum returns a hash of the encryption keys that are known.
func (s *Storage) KeySum() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.keys)) {
		fmt.Fprintf(h, "%v %x\n", name, s.keys[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *Storage) readKeyRing(ctx context.Context) error {
	c, err := s.readConfig(ctx, "key-ring", s.Build.KeyRing)
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range c.Names() {
		if strings.HasPrefix(name, "key-") {
			if err := s.keys.Parse(strings.NewReader(name+" = "+c.Text(name)), func(int, error) {}); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(faults...)
}

func (s *Storage) openArchives(context.Context) (err error) {
	s.archives, err = s.objects.Archives(s.cdns, store.Options{Blocks: s.opts.Blocks, Numbers: &s.blocks, Index: s.opts.Index, Log: s.log})
	if err != nil {
		return err
	}
	for _, err := range s.archives.Problems() {
		s.addFault(err)
	}
	return nil
}

func (s *Storage) openEncoding(ctx context.Context) error {
	ref, err := s.BuildConfig.Ref("encoding")
	if err != nil {
		return err
	}
	if ref.EKey.IsZero() {
		return config.Format.Bad(0, "the build configuration has no encoding key of the encoding file")
	}
	f := &encodingFile{storage: s, ref: ref}
	c, err := f.open(ctx)
	if err != nil {
		return fmt.Errorf("encoding file: %w", err)
	}
	if s.encoding, err = encoding.New(ctx, f, c.Size()); err != nil {
		return fmt.Errorf("encoding file: %w", err)
	}
	return nil
}

// encodingFile is the encoding file at its current place. An update may move it, while the
// storage uses it as long as it is open.
type encodingFile struct {
	storage *Storage
	ref     config.Ref
	now     atomic.Pointer[Content]
}

func (f *encodingFile) open(ctx context.Context) (*Content, error) {
	d, err := f.storage.open(ctx, encoded{key: f.ref.EKey[:], ckey: f.ref.CKey, access: access{blocks: f.storage.opts.Blocks}})
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	c := newContent(d)
	f.now.Store(c)
	return c, nil
}

// ReadAt reads the file, and opens it again if its old place is gone.
func (f *encodingFile) ReadAt(p []byte, off int64) (int, error) {
	return f.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext implements readat.Waiting.
func (f *encodingFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := f.now.Load().ReadAtContext(ctx, p, off)
	if err == nil || errors.Is(err, io.EOF) || ctx.Err() != nil {
		return n, err
	}
	if _, refresh := f.storage.Refresh(); refresh != nil {
		return n, err
	}
	c, open := f.open(ctx)
	if open != nil {
		return n, err
	}
	return c.ReadAtContext(ctx, p, off)
}

func (f *encodingFile) ReadPlainAt(ctx context.Context, p []byte, off int64) bool {
	return f.now.Load().ReadPlainAt(ctx, p, off)
}
