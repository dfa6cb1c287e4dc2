package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/xmlsheet"
)

// In the second reading several goroutines parse sheets, and one passes the results to the
// Builder, sheet by sheet. Results that are ahead wait in batches.

// batch is a part of a sheet as calls of the Builder.
type batch struct {
	calls []call
	text  []byte // of strings, one behind the other
	keys  []datacenter.KeyDefinition
}

// call is a call of the Builder.
type call struct {
	what method
	// ref is the number of a kind, or an attribute's place in it.
	ref uint32
	// bits are a value, the bytes of a string, or flags.
	bits uint32
}

// method is the method to call.
type method uint8

const (
	callInt       = method(datacenter.Int)
	callFloat     = method(datacenter.Float)
	callString    = method(datacenter.String)
	callBool      = method(datacenter.Bool)
	callText      = callBool + 1
	callEnd       = callBool + 2
	callBegin     = callBool + 3
	callBeginKeys = callBool + 4 // with the next of batch.keys
)

const (
	batchCalls   = 1 << 13
	batchText    = 1 << 17 // bytes
	batchesAhead = 4       // of a sheet
)

// parsing is a sheet while it is parsed.
type parsing struct {
	index   int
	batches chan *batch
	err     error // once batches is closed
}

// build passes all sheets to b.
func build(ctx context.Context, src *sheetFiles, s *survey, b *datacenter.Builder, bar *progress) error {
	g, ctx := errgroup.WithContext(ctx)
	var (
		inOrder = make(chan *parsing, sheetsAhead) // for the builder
		jobs    = make(chan *parsing)              // for the parsers
		free    = make(chan *batch, sheetsAhead)
	)
	g.Go(func() error {
		defer close(inOrder)
		defer close(jobs)
		for i := range src.files {
			job := &parsing{index: i, batches: make(chan *batch, batchesAhead)}
			for _, to := range []chan *parsing{inOrder, jobs} {
				select {
				case to <- job:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range min(runtime.GOMAXPROCS(0), len(src.files)) {
		g.Go(func() error {
			p := &packer{ctx: ctx, src: src, survey: s, free: free}
			for job := range jobs {
				job.err = p.file(job)
				close(job.batches)
			}
			return nil
		})
	}
	g.Go(func() error {
		c := caller{b: b, kinds: s.kinds, known: make([]bool, len(s.kinds)), definitions: definitions{}}
		for job := range inOrder {
			if err := c.sheet(ctx, src.files[job.index].path, job, free); err != nil {
				return err
			}
			bar.add(src.files[job.index].size)
		}
		return nil
	})
	return g.Wait()
}

// packer parses sheets into batches.
type packer struct {
	ctx    context.Context
	src    *sheetFiles
	survey *survey
	free   chan *batch

	buf  []byte
	open []*kind
	job  *parsing
	out  *batch
}

// file parses a sheet.
func (p *packer) file(job *parsing) error {
	file := p.src.files[job.index].path
	var err error
	if p.buf, err = readFile(p.src.fsys, file, p.buf); err != nil {
		return err
	}
	parser, err := xmlsheet.New(file, p.buf)
	if err != nil {
		return err
	}
	p.job, p.open, p.out = job, p.open[:0], p.batch()
	for {
		event, err := parser.Next()
		switch {
		case errors.Is(err, io.EOF):
			return p.flush()
		case err != nil:
			return err
		case event == xmlsheet.Begin:
			err = p.begin(parser)
		default:
			p.end(parser)
		}
		if err == nil && (len(p.out.calls) >= batchCalls || len(p.out.text) >= batchText) {
			err = p.flush()
		}
		if err != nil {
			return err
		}
	}
}

// batch returns an empty one, used before if possible.
func (p *packer) batch() *batch {
	select {
	case b := <-p.free:
		*b = batch{calls: b.calls[:0], text: b.text[:0], keys: b.keys[:0]}
		return b
	default:
		return &batch{calls: make([]call, 0, batchCalls+batchCalls/8)}
	}
}

// flush sends the batch.
func (p *packer) flush() error {
	select {
	case p.job.batches <- p.out:
		p.out = p.batch()
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

func (p *packer) begin(parser *xmlsheet.Parser) error {
	n := parser.Node()
	at := p.kind(n)
	if at == nil {
		return p.changed()
	}
	p.open = append(p.open, at)
	c := call{what: callBegin, ref: at.number, bits: uint32(n.Flags)}
	if n.HasKeys {
		c.what = callBeginKeys
		p.out.keys = append(p.out.keys, n.Keys)
	}
	p.out.calls = append(p.out.calls, c)
	hint := 0
	for k := range n.Attributes {
		a := &n.Attributes[k]
		i := at.attr(a.Name, hint)
		if i < 0 {
			return p.changed()
		}
		hint = i + 1
		t := a.Type
		if t == 0 {
			t = at.attrs[i].typ
		}
		c := call{what: method(t), ref: uint32(i)}
		if t == datacenter.String {
			c.bits = uint32(len(a.Value))
			p.out.text = append(p.out.text, a.Value...)
		} else {
			var err error
			if c.bits, err = infer.Number(t, a.Value); err != nil {
				return parser.Wrong(a.Offset, at.name+" "+at.attrs[i].name, err)
			}
		}
		p.out.calls = append(p.out.calls, c)
	}
	return nil
}

// changed returns the error for a file that has changed since the survey.
func (p *packer) changed() error {
	return fmt.Errorf("sheets: %s: %w", p.src.files[p.job.index].path, datacenter.ErrChanged)
}

// kind returns the kind of a new node, or nil for one that the survey did not meet.
func (p *packer) kind(n *xmlsheet.Node) *kind {
	if len(p.open) > 0 {
		return p.open[len(p.open)-1].child(n.Name)
	}
	key := p.survey.keys[p.job.index]
	if key.sheet != string(n.Name) {
		return nil
	}
	return p.survey.sheets[key]
}

func (p *packer) end(parser *xmlsheet.Parser) {
	p.open = p.open[:len(p.open)-1]
	if text, ok := parser.Text(); ok {
		p.out.calls = append(p.out.calls, call{what: callText, bits: uint32(len(text))})
		p.out.text = append(p.out.text, text...)
	}
	p.out.calls = append(p.out.calls, call{what: callEnd})
}

// caller calls the Builder.
type caller struct {
	b     *datacenter.Builder
	kinds []*kind
	open  []*kind
	// definitions are all key definitions in use. known says whether that of a kind is
	// among them.
	definitions definitions
	known       []bool // by the number of a kind
}

// sheet passes a sheet to the Builder.
func (c *caller) sheet(ctx context.Context, file string, job *parsing, free chan<- *batch) error {
	for {
		select {
		case b, more := <-job.batches:
			if !more {
				return job.err
			}
			if err := c.batch(b); err != nil {
				return fmt.Errorf("sheets: %s: %w", file, err)
			}
			select {
			case free <- b:
			default:
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *caller) batch(b *batch) error {
	text := string(b.text)
	keys := b.keys
	for _, d := range b.calls {
		switch d.what {
		case callBegin, callBeginKeys:
			own := keys[:0]
			if d.what == callBeginKeys {
				own, keys = keys[:1], keys[1:]
			}
			if err := c.begin(d, own); err != nil {
				return err
			}
		case callEnd:
			c.open = c.open[:len(c.open)-1]
			c.b.End()
		case callText:
			c.b.Text(text[:d.bits])
			text = text[d.bits:]
		default:
			name := c.open[len(c.open)-1].attrs[d.ref].name
			if d.what == callString {
				c.b.String(name, text[:d.bits])
				text = text[d.bits:]
				continue
			}
			c.number(name, d)
		}
	}
	return nil
}

// begin begins a node. own is its key definition, if it has one.
func (c *caller) begin(d call, own []datacenter.KeyDefinition) error {
	k := c.kinds[d.ref]
	c.open = append(c.open, k)
	def := k.keys
	if len(own) > 0 {
		def = own[0]
	}
	if len(own) > 0 || !c.known[d.ref] {
		c.known[d.ref] = c.known[d.ref] || len(own) == 0
		if err := c.definitions.add(def); err != nil {
			return err
		}
	}
	c.b.Begin(k.name, def, datacenter.KeyFlags(d.bits))
	return nil
}

// number adds an attribute that is no string to the newest node.
func (c *caller) number(name string, d call) {
	switch d.what {
	case callInt:
		c.b.Int(name, int32(d.bits))
	case callFloat:
		c.b.Float(name, math.Float32frombits(d.bits))
	default:
		c.b.Bool(name, d.bits != 0)
	}
}
