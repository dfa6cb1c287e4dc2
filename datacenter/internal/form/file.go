package form

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"lorefs/internal/cache"
	"lorefs/internal/cores"
)

// BlockCache keeps inflated blocks. Package nodes/blockcache has one with a budget.
type BlockCache interface {
	// Block returns block n, from memory or from load. It calls load once however many callers wait,
	// and load may ask for other blocks. A caller leaves when its ctx ends, and the context of load
	// ends when all have left. Callers must not change the block.
	Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error)
}

// IndexStore keeps the result of the first pass over a file, so that the next Open inflates
// nothing. What it returns is verified. Its errors are logged and otherwise ignored.
type IndexStore interface {
	// Load returns what was saved under key, or an error that matches io/fs.ErrNotExist. A File
	// goes on using the data where it is, so it must not be changed any more.
	Load(key string) ([]byte, error)
	// Save may keep data and write it later, so data must not be changed any more.
	Save(key string, data []byte) error
}

// Options are the options of Open. The zero value is right for a file that is opened once.
type Options struct {
	// Layout overrides the layout that the structure shows. Default: LayoutAuto.
	Layout Layout
	// Keys are tried in turn. Default: DefaultKeys.
	Keys []Key
	// Blocks keeps inflated blocks. Default: all are kept.
	Blocks BlockCache
	// KeepBlocks keeps what the first pass inflates in Blocks. It is for a caller that reads all of
	// the file next, or from a slow source. For others, memory for so much costs more than
	// inflating a few blocks again.
	KeepBlocks bool
	// HoldBlocks keeps some of what the first pass inflates until it is first read. It is for a
	// caller that next goes through all of the file once.
	HoldBlocks bool
	// Index remembers the result of the first pass. Default: nothing is remembered.
	Index IndexStore
	// Later is called with what need not be done before Open returns, which is to make the index
	// for Index. It may run that at any time, once. Default: it is run at once.
	Later func(work func())
	// ModTime is the modification time of the file. An index of a file with another ModTime
	// is ignored.
	ModTime time.Time
	// BlockSize is the number of bytes that are inflated at a time. A test of small files sets
	// it so that they have several blocks. Default: 1 MiB,
	// at most 4.
	BlockSize int64
	// Progress is called during the first pass, about once for each MiB, with the number of
	// inflated bytes and their total. Verify reads everything a second time, and counts that.
	Progress func(done, total int64)
	// Logger receives a message if an index is damaged. Default: no logging.
	Logger *slog.Logger
}

// File is an open data center. It is safe for concurrent use. It holds only the index in
// memory and reads everything else from inflated blocks.
type File struct {
	*Container
	Index

	Blocks BlockCache
	// last is only used by a Private.
	last lastBlocks
	// Identity is the key of the index in the IndexStore.
	Identity cache.ID
	// load is inflateBlock as a value. It is made once so that reads allocate nothing.
	load func(ctx context.Context, n uint64) ([]byte, error)
	// inflating limits how many goroutines inflate a block at once to the number of cores:
	// more would not be faster, and each needs the memory of a block.
	inflating chan struct{}
	// nameIndex is made when somebody looks a name up.
	nameIndex struct {
		once sync.Once
		of   map[string]uint16
	}
}

// OpenSound is open, but it accepts nothing that is wrong.
func OpenSound(ctx context.Context, r io.ReaderAt, size int64, opts Options) (*File, error) {
	f, err := Open(ctx, r, size, opts)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.AdlerErr, f.CountErr); err != nil {
		return nil, err
	}
	return f, nil
}

// Open reads the structure of a data center of size bytes. It accepts a wrong checksum and a broken graph: it keeps them in
// AdlerErr and CountErr, so that a verifier can report them with everything else.
func Open(ctx context.Context, r io.ReaderAt, size int64, opts Options) (*File, error) {
	SetDefaults(&opts)
	c, err := openContainer(r, size, opts.Keys)
	if err != nil {
		return nil, err
	}
	f := NewFile(c, opts.Blocks)
	if f.Identity, err = identify(r, size, opts); err != nil {
		return nil, err
	}
	if f.restore(opts) {
		return f, nil
	}
	if err := f.build(ctx, opts); err != nil {
		return nil, err
	}
	f.remember(opts)
	return f, nil
}

// NewFile returns a File without an index.
func NewFile(c *Container, blocks BlockCache) *File {
	f := &File{Container: c, Blocks: blocks, inflating: make(chan struct{}, cores.Count())}
	f.load = f.inflateBlock
	return f
}

// SetDefaults fills in missing options.
func SetDefaults(o *Options) {
	if o.Keys == nil {
		o.Keys = DefaultKeys()
	}
	if o.Blocks == nil {
		o.Blocks = &cache.All{}
	}
	if o.BlockSize <= 0 {
		o.BlockSize = defaultBlockSize
	}
	o.BlockSize = min(o.BlockSize, MaxBlockSize)
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if o.Later == nil {
		o.Later = func(work func()) { work() }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// build makes the index by inflating the file.
func (f *File) build(ctx context.Context, opts Options) error {
	p := &pass{
		Container: f.Container, progress: opts.Progress, blockSize: opts.BlockSize,
		keep: func(n uint64, buf []byte) {
			// An error does not matter: a block that the cache can't keep is loaded again.
			_, _ = f.Blocks.Block(context.Background(), n, func(context.Context, uint64) ([]byte, error) { return buf, nil })
		},
	}
	switch {
	case opts.KeepBlocks:
		p.most = math.MaxInt64
	case opts.HoldBlocks:
		held := newHeldBlocks(f.Blocks, int((f.Stated+opts.BlockSize-1)/opts.BlockSize), math.MaxInt64)
		held.once = true
		p.most, p.keep = maxHeld/opts.BlockSize, held.add
		f.Blocks = held
	}
	if err := p.run(ctx, f.layouts(opts.Layout), p.inflate); err != nil {
		return err
	}
	return f.indexed(ctx, p)
}

// indexed takes the index from a pass.
func (f *File) indexed(ctx context.Context, p *pass) error {
	s, err := p.fits()
	if err != nil {
		return err
	}
	f.Index = Index{
		Layout: s.layout, Header: s.header, Regions: *s.regions,
		Checkpoints: p.Checkpoints, StreamEnd: p.streamEnd,
	}
	f.NoAdler = p.noAdler
	if sum := p.Adler(p.Stated); !p.noAdler && p.statedAdler != sum {
		f.AdlerErr = BadFile(p.streamEnd-AdlerSize, "Adler-32 %08x: the data has %08x", p.statedAdler, sum)
	}
	f.Locate(f.Stated)
	if err := f.takeTally(ctx, s); err != nil {
		return err
	}
	return f.readTables()
}

// takeTally takes the result of counting from a pass, or counts again.
func (f *File) takeTally(ctx context.Context, s *layoutScan) error {
	counted, countErr := s.tally, s.countErr
	if errors.Is(countErr, ErrRecount) {
		t, err := f.TableNodes(ctx)
		if err != nil {
			return err
		}
		counted, countErr = t.Tally(f.Regions.Attributes, f.Regions.Nodes, false)
	}
	if f.CountErr = countErr; countErr == nil {
		f.Tally = *counted
	}
	return nil
}

// layouts returns the possible layouts. Only version 6 has more than one.
func (f *File) layouts(want Layout) []Layout {
	if want != LayoutAuto {
		return []Layout{want}
	}
	if f.fileVersion == LayoutV3.Version() {
		return []Layout{LayoutV3}
	}
	return []Layout{LayoutV6X64, LayoutV6X86}
}

// fits picks the layout by structure: the chain of regions must end in the footer, at the
// end of the data. If no chain does, fits accepts one that ends elsewhere.
func (p *pass) fits() (*layoutScan, error) {
	var exact, complete []*layoutScan
	var failed *layoutScan // the one that got furthest
	for _, s := range p.scans {
		switch {
		case s.err != nil:
			if failed == nil || s.reached > failed.reached {
				failed = s
			}
		case s.regions.Footer != footerMissing && s.regions.End == p.Stated:
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
	return nil, Badf(0, "may be of layout %v or %v: say which", exact[0].layout, exact[1].layout)
}

// noneFits returns the error for data that has no layout. s got furthest, so it probably
// has the right layout.
func (p *pass) noneFits(s *layoutScan) error {
	if len(p.scans) == 1 {
		return fmt.Errorf("layout %v: %w", s.layout, s.err)
	}
	return fmt.Errorf("no layout fits, %v most nearly: %w", s.layout, s.err)
}

// Trailing returns the number of bytes behind the zlib stream in the file, and behind the footer in the
// inflated data.
func (f *File) Trailing() (file, inflated int64) {
	return f.Size - f.StreamEnd, f.Stated - f.Regions.End
}

// HasFooter reports whether the data ends with a footer.
func (f *File) HasFooter() bool { return f.Regions.Footer != footerMissing }

// OpenAs opens a file with an index that is not remembered yet. It is for one that was spliced.
func OpenAs(r io.ReaderAt, size int64, key Key, x Index, opts Options) (*File, error) {
	SetDefaults(&opts)
	c, err := openContainer(r, size, []Key{key})
	if err != nil {
		return nil, err
	}
	f := NewFile(c, opts.Blocks)
	if f.Identity, err = identify(r, size, opts); err != nil {
		return nil, err
	}
	f.Index = x
	f.Locate(f.Stated)
	if f.StreamEnd != size {
		return nil, BadFile(f.StreamEnd, "%d bytes: want %d", size, f.StreamEnd)
	}
	if err := f.checkIndex(); err != nil {
		return nil, err
	}
	f.remember(opts)
	return f, nil
}
