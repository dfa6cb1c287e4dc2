package datacenter

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"lorefs/internal/cache"
)

// BlockCache keeps inflated blocks. Package nodes/blockcache has one with a budget.
type BlockCache = cache.Blocks

// IndexStore keeps what the first pass over a file found, so that the next Open
// inflates nothing. What it returns is verified; an error of it is logged and
// otherwise ignored.
type IndexStore = cache.Store

// Options are what Open may be told. The zero value is right for a file that
// is opened once.
type Options struct {
	// Layout overrides what the structure says. Default: LayoutAuto.
	Layout Layout
	// Keys are tried in turn. Default: DefaultKeys.
	Keys []Key
	// Blocks keeps inflated blocks. Default: all are kept.
	Blocks BlockCache
	// Index remembers the first pass. Default: nothing is remembered.
	Index IndexStore
	// ModTime is the file's; a remembered pass over a file of another ModTime
	// is not believed.
	ModTime time.Time
	// Progress is told how many bytes of how many are inflated, during the
	// first pass only, about each MiB.
	Progress func(done, total int64)
	// Logger is told of an index that was damaged. Default: nobody is.
	Logger *slog.Logger
}

// File is an open data center. It is safe for parallel use. Nothing but the
// index is held in memory: what else is asked for is read from inflated blocks.
type File struct {
	*container
	index

	blocks BlockCache
	// identity is what the index is kept under.
	identity cache.ID
	// load is inflateBlock as a value: made once, for reads allocate nothing.
	load     func(n uint64) ([]byte, error)
	decoders sync.Pool // of *inflate.Decoder
	// inflating has room for those who inflate a block: more than there are cores would
	// be no faster, and each needs the memory of a block.
	inflating chan struct{}
}

// Open reads the structure of a data center of size bytes. The first time it
// inflates the whole file, which takes about 2 s a GB; the time after, with the
// same opts.Index, it inflates nothing.
//
// Errors: [ErrKey], a [FormatError], ctx's, or what r gives.
func Open(ctx context.Context, r io.ReaderAt, size int64, opts Options) (*File, error) {
	f, err := open(ctx, r, size, opts)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.adlerErr, f.countErr); err != nil {
		return nil, err
	}
	return f, nil
}

// open is Open, but for a wrong checksum and a broken graph: they are left in
// adlerErr and countErr, for Verify to report with all else.
func open(ctx context.Context, r io.ReaderAt, size int64, opts Options) (*File, error) {
	setDefaults(&opts)
	c, err := openContainer(r, size, opts.Keys)
	if err != nil {
		return nil, err
	}
	f := &File{container: c, blocks: opts.Blocks, inflating: make(chan struct{}, runtime.GOMAXPROCS(0))}
	f.load = f.inflateBlock
	f.decoders.New = func() any { return c.decoder() }
	id, err := identify(r, size, opts)
	if err != nil {
		return nil, err
	}
	f.identity = id
	if f.restore(opts) {
		return f, nil
	}
	if err := f.build(ctx, opts); err != nil {
		return nil, err
	}
	f.remember(opts)
	return f, nil
}

func setDefaults(o *Options) {
	if o.Keys == nil {
		o.Keys = DefaultKeys()
	}
	if o.Blocks == nil {
		o.Blocks = &cache.All{}
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// build makes the index by inflating the file.
func (f *File) build(ctx context.Context, opts Options) error {
	p := &pass{
		container: f.container, progress: opts.Progress,
		keep: func(n uint64, buf []byte) {
			// The cache has no say: a block that it can't keep is loaded again.
			_, _ = f.blocks.Block(n, func(uint64) ([]byte, error) { return buf, nil })
		},
	}
	if err := p.run(ctx, f.layouts(opts.Layout)); err != nil {
		return err
	}
	s, err := p.fits()
	if err != nil {
		return err
	}
	f.index = index{
		layout: s.layout, header: s.header, regions: *s.regions,
		checkpoints: p.checkpoints, streamEnd: p.streamEnd,
		countErr: s.countErr,
	}
	if s.countErr == nil {
		f.tally = *s.tally
	}
	f.noAdler = p.noAdler
	if !p.noAdler && p.adler != p.sumAdler {
		f.adlerErr = badFile(p.streamEnd-adlerSize, "Adler-32 %08x: the data has %08x", p.adler, p.sumAdler)
	}
	return f.readTables()
}

// layouts are those that may be meant. Only version 6 leaves a choice.
func (f *File) layouts(want Layout) []Layout {
	if want != LayoutAuto {
		return []Layout{want}
	}
	if f.fileVersion == LayoutV3.Version() {
		return []Layout{LayoutV3}
	}
	return []Layout{LayoutV6X64, LayoutV6X86}
}

// fits picks the layout by structure: the chain of regions must end in the
// footer, at the end of the data. A chain that ends elsewhere will do if no
// other does better.
func (p *pass) fits() (*layoutScan, error) {
	var exact, complete []*layoutScan
	var failed *layoutScan // the one that got furthest
	for _, s := range p.scans {
		switch {
		case s.err != nil:
			if failed == nil || s.reached > failed.reached {
				failed = s
			}
		case s.regions.footer != footerMissing && s.regions.end == p.stated:
			exact = append(exact, s)
		default:
			complete = append(complete, s)
		}
	}
	if len(exact) == 0 {
		exact = complete
	}
	switch len(exact) {
	case 0:
		return nil, p.noneFits(failed)
	case 1:
		return exact[0], nil
	}
	return nil, badf(0, "may be of layout %v or %v: say which", exact[0].layout, exact[1].layout)
}

// noneFits is the error for data that is of no layout. s got furthest, and so
// is likely the right one.
func (p *pass) noneFits(s *layoutScan) error {
	if len(p.scans) == 1 {
		return fmt.Errorf("layout %v: %w", s.layout, s.err)
	}
	return fmt.Errorf("no layout fits, %v most nearly: %w", s.layout, s.err)
}

// Layout is the file's layout.
func (f *File) Layout() Layout { return f.layout }

// Header is the file's header.
func (f *File) Header() Header { return f.header }

// Key is the key that opened the file.
func (f *File) Key() Key { return f.key }

// Identity names the file's content, as far as its size, its ModTime and its ends
// tell, and how it is read: what is kept about the file can be kept under it. It
// is made of hex digits.
func (f *File) Identity() string { return hex.EncodeToString(f.identity.Of[:]) }

// Size is the size of the inflated data in bytes.
func (f *File) Size() int64 { return f.stated }

// Counts says how much the file holds.
func (f *File) Counts() Counts { return f.counts }

// TrailingBytes is how many bytes of the file lie behind the zlib stream, and
// how many of the inflated data behind the footer. Both should be 0.
func (f *File) TrailingBytes() (file, inflated int64) {
	return f.size - f.streamEnd, f.stated - f.regions.end
}

// Footer is the footer's marker; ok is false if the file has none.
func (f *File) Footer() (marker int32, ok bool) {
	return f.regions.marker, f.regions.footer != footerMissing
}
