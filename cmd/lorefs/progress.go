package main

import (
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"lorefs/internal/app/mounted"
	"lorefs/internal/app/save"
)

// progress shows the user how far a long operation is.
type progress interface {
	// set shows that done bytes of total are done. total is -1 if it is unknown.
	set(done, total int64)
	// finish removes it from the screen.
	finish()
}

// newProgress returns a bar on stderr if that is a terminal, and otherwise shows nothing.
func newProgress(what string) progress {
	if !drawsBars() {
		return silence{}
	}
	return &bar{what: what, bytes: true}
}

// newCounter is newProgress for things other than bytes.
func newCounter(what string) progress {
	if !drawsBars() {
		return silence{}
	}
	return &bar{what: what}
}

func drawsBars() bool { return !quiet.Load() && term.IsTerminal(int(os.Stderr.Fd())) }

type silence struct{}

func (silence) set(int64, int64) {}
func (silence) finish()          {}

// saving shows how far a save is, and its stage.
type saving struct {
	// mu guards bar.
	mu  sync.Mutex
	bar *bar
}

// newSaving returns a bar on stderr if that is a terminal, and otherwise shows nothing.
func newSaving() *saving {
	if p, ok := newCounter("").(*bar); ok {
		return &saving{bar: p}
	}
	return &saving{}
}

// show may be called by several goroutines.
func (s *saving) show(p save.Progress) {
	if s.bar == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.describe(p.Stage)
	s.bar.set(p.Percent(), 100)
}

// meanwhile shows the progress in the answer of a mount.
func (s *saving) meanwhile(a *mounted.Answer) error {
	if a.Progress != nil {
		s.show(*a.Progress)
	}
	return nil
}

func (s *saving) finish() {
	if s.bar != nil {
		s.bar.finish()
	}
}

// bar appears at the first bytes, so that quick operations show nothing.
type bar struct {
	what  string
	bytes bool
	bar   *progressbar.ProgressBar
}

func (b *bar) describe(what string) {
	if b.what = what; b.bar != nil {
		b.bar.Describe(what)
	}
}

func (b *bar) set(done, total int64) {
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetDescription(b.what),
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionShowBytes(b.bytes),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	// It fails only if stderr does, and then the user can't be told.
	_ = b.bar.Set64(done)
}

func (b *bar) finish() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
