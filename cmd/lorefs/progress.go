package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows a user how far something is that takes its time.
type progress interface {
	// set tells that done bytes of total are through. A total of -1 is unknown.
	set(done, total int64)
	// finish takes the show off the screen.
	finish()
}

// newProgress shows a bar on stderr if that is a terminal, and nothing otherwise.
func newProgress(what string) progress {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return silence{}
	}
	return &bar{what: what, bytes: true}
}

// newCounter is newProgress for things that are no bytes.
func newCounter(what string) progress {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return silence{}
	}
	return &bar{what: what}
}

type silence struct{}

func (silence) set(int64, int64) {}
func (silence) finish()          {}

// bar appears with the first bytes, so that what needs no time shows nothing.
type bar struct {
	what  string
	bytes bool
	bar   *progressbar.ProgressBar
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
	// It only fails if stderr does, of which there is no way to tell the user.
	_ = b.bar.Set64(done)
}

func (b *bar) finish() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
