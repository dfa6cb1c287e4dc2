package dissect

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"lorefs/internal/cores"
	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// Open opens a log as [capture.Open] does, and finds the name and the definition of each code in
// it as New does. It reads the definitions while it reads the log: both take long, and a log can
// only be read by one core.
func Open(ctx context.Context, src io.ReaderAt, size int64, how capture.Options, lib *protocol.Library, opts Options) (*Recording, error) {
	if lib == nil {
		log, err := capture.Open(ctx, src, size, how)
		if err != nil {
			return nil, err
		}
		return New(log, nil, opts)
	}
	defer lib.Cache()()
	ahead := reader{lib: lib, opts: opts}
	how.Seen = ahead.seen
	log, err := capture.Open(ctx, src, size, how)
	ahead.end(err != nil)
	if err != nil {
		return nil, err
	}
	// A log may name its revision behind its first packets.
	if r := ahead.recording; r != nil && (opts.Revision != "" || r.opts.Revision == log.Info().Revision) {
		return r.of(log)
	}
	return New(log, lib, opts)
}

// reader has the library read the definitions of codes before they are asked for. What it finds
// wrong, who asks finds, too.
type reader struct {
	lib  *protocol.Library
	opts Options
	// codes are to be read, all that there may be, so that nobody waits to send one. It is nil
	// before the first one.
	codes chan uint16
	work  sync.WaitGroup
	// unwanted is set when there is no sense in reading on.
	unwanted atomic.Bool
	// recording has the map by which the reader names the codes; nil if it could not be read. It
	// is valid after end.
	recording *Recording
}

// seen is for the first packet of a code.
func (a *reader) seen(so capture.Info, code uint16) {
	if a.codes == nil {
		a.codes = make(chan uint16, 1<<16)
		a.work.Go(func() { a.read(so) })
	}
	a.codes <- code
}

// end waits until all codes are read. With unwanted set it does not read what is left.
func (a *reader) end(unwanted bool) {
	if a.codes != nil {
		a.unwanted.Store(unwanted)
		close(a.codes)
		a.work.Wait()
	}
}

func (a *reader) read(so capture.Info) {
	r, err := named(so, a.lib, a.opts)
	if err != nil {
		return
	}
	a.recording = r
	for range cores.Count() {
		a.work.Go(func() {
			for code := range a.codes {
				if name := NameOf(r.names, code); name != "" && !a.unwanted.Load() {
					_ = r.define(&Code{Name: name}, "*")
				}
			}
		})
	}
}
