package cli

import (
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/save"
)

// Progress shows the user how far a long operation is.
type Progress interface {
	// Set shows that done bytes of total are done. total is -1 if it is unknown.
	Set(done, total int64)
	// Finish removes it from the screen.
	Finish()
}

// NewProgress returns a bar on stderr if that is a terminal with room for one, and otherwise
// shows nothing.
func NewProgress(what string) Progress {
	if b := newBar(what); b != nil {
		b.bytes = true
		return b
	}
	return Silence{}
}

// NewCounter is NewProgress for things other than bytes.
func NewCounter(what string) Progress {
	if b := newBar(what); b != nil {
		b.count = true
		return b
	}
	return Silence{}
}

// Columns of a terminal. A bar that is wider than its line would begin a new one each time.
const (
	// leastColumns is the width that a bar needs.
	leastColumns = 40
	// amountColumns is the width from which on amounts and rates stand behind it.
	amountColumns = 80
	// textColumns and textAmountColumns are the most that stands around the bar itself.
	textColumns, textAmountColumns = 30, 60
	mostBar                        = 40
)

// newBar returns nil if there is no terminal that could show a bar, or none is wanted.
func newBar(what string) *bar {
	columns, _, err := term.GetSize(int(os.Stderr.Fd()))
	if columns == 0 { // unknown, as on a serial line
		columns = amountColumns
	}
	if err != nil || columns < leastColumns || os.Getenv("TERM") == "dumb" || Quiet.Load() {
		return nil
	}
	return &bar{what: what, columns: columns}
}

// Silence shows nothing.
type Silence struct{}

// Set implements [Progress].
func (Silence) Set(int64, int64) {}

// Finish implements [Progress].
func (Silence) Finish() {}

// Saving shows how far a save is, and its stage.
type Saving struct {
	// mu guards bar.
	mu  sync.Mutex
	bar *bar
}

// NewSaving returns a bar on stderr if that is a terminal, and otherwise shows nothing.
func NewSaving() *Saving {
	return &Saving{bar: newBar("")}
}

// Show may be called by several goroutines.
func (s *Saving) Show(p save.Progress) {
	if s.bar == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.describe(p.Stage)
	s.bar.Set(p.Percent(), 100)
}

// Meanwhile shows the progress in the answer of a mount.
func (s *Saving) Meanwhile(a *mounted.Answer) error {
	if a.Progress != nil {
		s.Show(*a.Progress)
	}
	return nil
}

// Finish removes it from the screen.
func (s *Saving) Finish() {
	if s.bar != nil {
		s.bar.Finish()
	}
}

// bar appears at the first bytes, so that quick operations show nothing.
type bar struct {
	what string
	// bytes and count are set if the number of bytes, or of other things, is shown.
	bytes, count bool
	// columns is the width of the terminal.
	columns int
	bar     *progressbar.ProgressBar
}

func (b *bar) describe(what string) {
	if b.what = what; b.bar != nil {
		b.bar.Describe(what)
	}
}

func (b *bar) Set(done, total int64) {
	if b.bar == nil {
		amounts, around := b.columns >= amountColumns, textColumns
		if amounts {
			around = textAmountColumns
		}
		options := []progressbar.Option{
			progressbar.OptionSetDescription(b.what),
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetWidth(min(b.columns-around, mostBar)),
			progressbar.OptionShowBytes(b.bytes && amounts),
			progressbar.OptionThrottle(100 * time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false), // it guesses badly, and nobody knows what [3s:4s] says
		}
		if b.count && (amounts || total < 0) {
			options = append(options, progressbar.OptionShowCount())
		}
		b.bar = progressbar.NewOptions64(total, options...)
	}
	// It fails only if stderr does, and then the user can't be told.
	_ = b.bar.Set64(done)
}

func (b *bar) Finish() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
