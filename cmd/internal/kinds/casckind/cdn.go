package casckind

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/config"
	"lorefs/casc/far"
	"lorefs/casc/keys"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/origin"
	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/remote/versions"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// EncryptedProductError means that every object of a product is encrypted with a key that is
// not known. It matches [blte.ErrNoKey].
type EncryptedProductError struct{ Product, Key string }

func (e *EncryptedProductError) Error() string {
	return fmt.Sprintf("everything of the product %s is encrypted with the key %q, which is not known", e.Product, e.Key)
}

// Is makes the error match [blte.ErrNoKey].
func (e *EncryptedProductError) Is(target error) bool { return target == blte.ErrNoKey }

// cdn is where a storage comes from that is on the hosts of a CDN.
type cdn struct {
	product string
	whole   bool
	find    versions.Options
	build   versions.Build
	client  *remote.Client
	// cache is nil if the folder can't be used.
	cache *mirror.Cache
	// stop ends what goes on in the background, and looking waits for it.
	stop    context.CancelFunc
	ended   context.Context //nolint:containedctx // that of the background
	looking sync.WaitGroup

	mu sync.Mutex // guards the rest
	// opening is called with the bytes that have come, until the storage is open.
	opening func(done, total int64)
	// looked is when the version service was last asked, and newer what it said then.
	looked time.Time
	newer  *versions.Build
}

// openCDN finds out which build is wanted, and where it is.
func openCDN(ctx context.Context, product string, o kinds.Opening) (_ *cdn, err error) {
	c := &cdn{product: strings.ToLower(product), whole: o.CASC.CDN.WholeFiles, opening: o.Progress}
	c.ended, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	opts := &o.CASC.CDN
	c.cache = kinds.OpenMirror(opts, o.Logger)
	c.find = versions.Options{
		Product: c.product, Region: opts.Region, Build: opts.Build, CDN: opts.CDN, Hosts: opts.Hosts,
		Cache: c.cache, Offline: opts.Offline, Logger: o.Logger,
	}
	for _, text := range opts.VersionHosts {
		h, err := remote.ParseGiven(text)
		if err != nil {
			return nil, err
		}
		c.find.Tables, c.find.Channels = append(c.find.Tables, h), []remote.Host{}
	}
	if c.build, err = versions.Find(ctx, c.find); err != nil {
		return nil, err
	}
	c.looked = c.build.Said
	if c.client, err = c.newClient(o, nil); err != nil {
		return nil, err
	}
	name, err := c.encryptedBy(ctx)
	if err != nil || name == "" {
		return c, err
	}
	key, ok := opts.ProductKeys[name]
	if !ok {
		return nil, &EncryptedProductError{product, name}
	}
	c.client.Close()
	c.client, err = c.newClient(o, decrypter(key))
	return c, err
}

func (c *cdn) newClient(o kinds.Opening, decrypt func(remote.Key, int64, []byte)) (*remote.Client, error) {
	return remote.New(remote.Options{
		Hosts: c.build.Hosts, Path: c.build.Path, ConfigPath: c.build.ConfigPath, Cache: c.cache,
		Once: c.whole, Offline: o.CASC.CDN.Offline, Decrypt: decrypt, Times: o.Remote.Times(), Logger: o.Logger,
	})
}

// encryptedBy returns the name of the key of all objects, or nothing if they are plain. Not
// every host has the configuration that says so.
func (c *cdn) encryptedBy(ctx context.Context) (string, error) {
	if c.build.EncryptedBy != "" || c.build.ProductConfig == (remote.Key{}) || c.build.ConfigPath == "" {
		return c.build.EncryptedBy, nil
	}
	text, err := c.client.ProductConfig(ctx, c.build.ProductConfig)
	if err != nil {
		return "", ctx.Err()
	}
	return versions.KeyOfProduct(text)
}

// storage opens the storage.
func (c *cdn) storage(ctx context.Context, opts casc.Options) (*casc.Storage, error) {
	b := &c.build
	row := config.Build{
		Product: b.Product, Branch: b.Region, Version: b.Version,
		BuildKey: keys.Key(b.BuildConfig), CDNKey: keys.Key(b.CDNConfig), KeyRing: keys.Key(b.KeyRing),
	}
	opts.Product = ""
	st, err := casc.OpenRemote(ctx, c, &row, casc.RemoteOptions{Options: opts, WholeFiles: c.whole})
	c.came()
	return st, err
}

// opened says that from now on nobody waits for the storage to be open.
func (c *cdn) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opening = nil
}

// came reports how many bytes have come while the storage is opened.
func (c *cdn) came() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opening != nil {
		const unknown = -1
		c.opening(c.client.Stats().Bytes, unknown)
	}
}

// Config implements [far.Remote], and so do the other methods.
func (c *cdn) Config(ctx context.Context, key keys.Key) ([]byte, error) {
	defer c.came()
	return c.client.Config(ctx, key)
}

// Index implements [far.Remote].
func (c *cdn) Index(ctx context.Context, archive keys.Key, check func([]byte) error) ([]byte, error) {
	defer c.came()
	return c.client.Index(ctx, archive, func(data []byte) error {
		err := check(data)
		if errors.Is(err, casc.ErrUnsupported) {
			err = remote.Final(err) // it is what was asked for
		}
		return err
	})
}

// Loose implements [far.Remote].
func (c *cdn) Loose(ctx context.Context, f far.File, check func([]byte) error) ([]byte, error) {
	defer c.came()
	return c.client.Loose(ctx, fileOf(f), check)
}

// Range implements [far.Remote].
func (c *cdn) Range(ctx context.Context, f far.File, off, size int64, check func([]byte) error) ([]byte, error) {
	defer c.came()
	return c.client.Range(ctx, fileOf(f), off, size, check)
}

// Together implements [far.Remote].
func (c *cdn) Together(ctx context.Context, archive keys.Key, files []far.File, check func(int, []byte) error) ([][]byte, error) {
	defer c.came()
	all := make([]remote.File, len(files))
	for i := range files {
		all[i] = fileOf(files[i])
	}
	return c.client.Together(ctx, remote.Key(archive), all, far.MaxGap, check)
}

// Begin implements [far.Remote].
func (c *cdn) Begin(ctx context.Context, f far.File, size int64, proven func([]byte) (int, error)) ([]byte, error) {
	defer c.came()
	return c.client.Begin(ctx, fileOf(f), size, proven)
}

func fileOf(f far.File) remote.File {
	return remote.File{Key: f.Key, Archive: f.Archive, Off: f.Off, Size: f.Size, Own: f.Own, Guess: f.Guess}
}

const (
	// lookEvery is how often the version service is asked for a newer build, when somebody
	// wants to know. lookTime is how long they wait for the answer.
	lookEvery = 10 * time.Minute
	lookTime  = 2 * time.Second
)

// notices returns what there is to say about the hosts and the build.
func (c *cdn) notices() (all []string) {
	if c.cache == nil {
		all = append(all, "nothing that was fetched is kept, for the cache can't be used")
	} else if err := c.cache.Trouble(); err != nil {
		all = append(all, "nothing more is kept of what is fetched: "+shown.Line(err))
	}
	if b := c.newest(); b != nil {
		all = append(all, fmt.Sprintf("there is another build, %s (%x): mount again to see it", b.Version, b.BuildConfig))
	}
	return all
}

// newest returns the build that the version service has now, or nil if it is this one or not
// known. The mount stays on its build.
func (c *cdn) newest() *versions.Build {
	c.mu.Lock()
	due := !c.find.Offline && time.Since(c.looked) > lookEvery
	if due {
		c.looked = time.Now()
	}
	c.mu.Unlock()
	if due {
		done := make(chan struct{})
		c.looking.Go(func() { defer close(done); c.look() })
		select {
		case <-done:
		case <-time.After(lookTime):
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newer
}

// look asks for the latest build. Without an answer what was known stays.
func (c *cdn) look() {
	find := c.find
	find.Build, find.CDN = "", ""
	b, err := versions.Find(c.ended, find)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newer = nil
	if b.BuildConfig != c.build.BuildConfig {
		c.newer = &b
	}
}

func (c *cdn) close() error {
	c.stop()
	c.looking.Wait()
	if c.client != nil {
		c.client.Close()
	}
	if c.cache == nil {
		return nil
	}
	return c.cache.Close()
}

func (c *cdn) status() *kinds.RemoteStatus {
	r := kinds.FetchedBy(c.client.Stats())
	r.Build, r.Version = hex.EncodeToString(c.build.BuildConfig[:]), c.build.Version
	if b := c.newest(); b != nil {
		r.Newer = cmp.Or(b.Version, hex.EncodeToString(b.BuildConfig[:]))
	}
	return r
}

// isCDN returns the product of a source on a CDN.
func isCDN(path string) (product string, ok bool) {
	o := origin.Parse(path)
	return o.Rest, o.Scheme == origin.CDN
}

// Fetched returns what was fetched, see [kinds.Source.Remote].
func (c *cascStorage) Fetched() *kinds.RemoteStatus {
	if c.cdn == nil {
		return nil
	}
	return c.cdn.status()
}

// Prepare reads ahead, see [kinds.Source.Prepare].
func (c *cascStorage) Prepare(ctx context.Context) error {
	if c.cdn == nil {
		return nil
	}
	return c.storage.LoadIndexes(ctx)
}

// Rows returns what [kinds.Source.Rows] does.
func (c *cascStorage) Rows() func(context.Context, []nodes.ID) ([][]int, error) {
	if c.cdn == nil {
		return nil
	}
	return func(ctx context.Context, files []nodes.ID) ([][]int, error) {
		keys := make([][]byte, len(files))
		for i, id := range files {
			// Reading a file without a key says what is wrong with it.
			if stored, err := c.tree.StoredKeys(ctx, id); err == nil && len(stored) > 0 {
				keys[i] = stored[0]
			}
		}
		return c.storage.Rows(ctx, keys)
	}
}
