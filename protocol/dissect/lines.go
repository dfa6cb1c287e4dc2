package dissect

import (
	"context"
	"iter"
	"sync"
	"time"

	"lorefs/internal/cores"
	"lorefs/protocol/capture"
)

// Selection says which packets are wanted: those with all that it states.
type Selection struct {
	// From and To are numbers: packets from From on, up to before To.
	From, To int
	// Since and Until are times, both included; zero for any, also an unknown one.
	Since, Until time.Time
	// Code decides by the code of a packet; nil for all.
	Code func(c *Code) bool
	// Sender is who has sent them; [capture.Unknown] is anybody.
	Sender capture.Direction
}

// All selects all packets of the recording.
func (r *Recording) All() Selection { return Selection{To: r.log.Len()} }

// at reports whether the time of a packet is wanted.
func (s *Selection) at(t time.Time) bool {
	if s.Since.IsZero() && s.Until.IsZero() {
		return true
	}
	return !t.IsZero() && !t.Before(s.Since) && (s.Until.IsZero() || !t.After(s.Until))
}

// Line describes a packet that was made a line of JSON.
type Line struct {
	Number int
	Code   uint16
	From   capture.Direction
	Time   time.Time
	Is     Outcome
	// Bytes is the size of the packet, Text that of the line.
	Bytes, Text int
}

// Block is some packets one behind the other.
type Block struct {
	// Text is the lines, and Lines describes each of them.
	Text  []byte
	Lines []Line

	numbers []int // of the packets that are not made lines yet
	err     error
	done    chan struct{}
}

// A block has at most so many packets, and so many bytes of the log. Longer ones make no
// better use of a core, and shorter ones cost more than they bring on.
const (
	blockPackets = 256
	blockBytes   = 128 << 10
	// blockText is how many bytes of lines a block has before it is handed over. The JSON of
	// a packet may have a thousand times its bytes.
	blockText = 4 << 20
)

// Lines yields the selected packets as lines of JSON, in their order, as AppendJSON makes
// them. It decodes on all cores. A block is valid until the next one.
//
// An error comes from reading and ends it.
func (r *Recording) Lines(ctx context.Context, s Selection) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		var work sync.WaitGroup
		defer work.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		n := cores.Count()
		// As many blocks as there are go around: to be filled, then done in their order.
		free, jobs, order := make(chan *Block, 2*n), make(chan *Block, 2*n), make(chan *Block, 2*n)
		for range 2 * n {
			free <- &Block{done: make(chan struct{}, 1)}
		}
		work.Go(func() {
			defer close(jobs)
			defer close(order)
			r.deal(ctx, s, free, jobs, order)
		})
		for range n {
			work.Go(func() {
				d := decoder{r: r, log: r.log.Sequential(), want: &s}
				for b := range jobs {
					d.fill(b)
					b.done <- struct{}{}
				}
			})
		}
		last := decoder{r: r, log: r.log, want: &s}
		for b := range order {
			<-b.done
			for more := true; more; {
				if more = len(b.numbers) > 0 && b.err == nil; !yield(b, b.err) || b.err != nil {
					return
				}
				if more {
					last.fill(b)
				}
			}
			free <- b
		}
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
		}
	}
}

// deal deals the numbers of the selected packets to blocks.
func (r *Recording) deal(ctx context.Context, s Selection, free <-chan *Block, jobs, order chan<- *Block) {
	var wanted [1 << 16]bool
	for _, c := range r.sorted {
		wanted[c] = s.Code == nil || s.Code(r.codes[c])
	}
	for i := max(s.From, 0); i < min(s.To, r.log.Len()); {
		var b *Block
		select {
		case b = <-free:
		case <-ctx.Done():
			return
		}
		b.numbers = b.numbers[:0]
		begin := r.log.Offset(i)
		for ; i < min(s.To, r.log.Len()) && len(b.numbers) < blockPackets; i++ {
			if !wanted[r.log.Code(i)] {
				continue
			}
			if len(b.numbers) > 0 && r.log.Offset(i)-begin > blockBytes {
				break
			}
			b.numbers = append(b.numbers, i)
		}
		order <- b
		jobs <- b
	}
}

// decoder makes lines of packets. It is used by one goroutine.
type decoder struct {
	r    *Recording
	log  *capture.Log
	want *Selection
	buf  []byte
	clock
}

// fill makes lines of the packets of a block, until it has enough of them.
func (d *decoder) fill(b *Block) {
	b.Text, b.Lines, b.err = b.Text[:0], b.Lines[:0], nil
	if n := len(b.numbers); n > 0 && b.numbers[n-1]-b.numbers[0] == n-1 {
		d.log.Ahead(b.numbers[0], b.numbers[n-1])
	}
	for k, i := range b.numbers {
		if len(b.Text) > blockText {
			b.numbers = b.numbers[k:]
			return
		}
		p, err := d.log.Packet(i, d.buf)
		if err != nil && !IsDamage(err) {
			b.err = err
			return
		}
		if cap(p.Data) > cap(d.buf) {
			d.buf = p.Data
		}
		if !d.want.at(p.Time) || d.want.Sender != capture.Unknown && p.From != d.want.Sender {
			continue
		}
		line := Line{Number: i, Code: d.log.Code(i), From: p.From, Time: p.Time, Bytes: len(p.Data), Text: -len(b.Text)}
		b.Text, line.Is = d.r.appendJSON(b.Text, &d.clock, i, &p, err)
		line.Text += len(b.Text)
		b.Lines = append(b.Lines, line)
	}
	b.numbers = b.numbers[:0]
}
