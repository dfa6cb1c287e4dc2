package pack

import (
	"context"

	"lorefs/datacenter"
)

// textsAhead stores the texts of sheets before the sheets themselves are passed to the Builder, on another
// core. They are stored in the order in which they stand in the sheets, as without it.
type textsAhead struct {
	// stored has an entry for each sheet whose texts are stored. It is closed at the end, and also if a
	// text can't be stored: then the layer comes upon the rest.
	stored chan struct{}
	stop   context.CancelFunc
}

// mostAhead is for how many sheets texts are stored ahead. What they take can only be freed of the stand-ins
// once the sheets are passed on as well.
const mostAhead = 64

// storeTexts begins to store texts. Where it is not certain yet which values are strings, it stores none.
func (s *survey) storeTexts(ctx context.Context, b *datacenter.Builder, sheets map[*standIns]*storedSheets) *textsAhead {
	ctx, stop := context.WithCancel(ctx)
	t := &textsAhead{stored: make(chan struct{}, mostAhead), stop: stop}
	go func() {
		defer close(t.stored)
		if s.guesses() {
			return
		}
		var buf []byte
		for i := range s.found {
			f := &s.found[i]
			if ctx.Err() != nil || sheets[f.read].storeTexts(b, f.texts, &buf) != nil {
				return
			}
			select {
			case t.stored <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
		b.EndTexts()
	}()
	return t
}

// await waits until the texts of the next sheet are stored, or until no more texts will be.
func (t *textsAhead) await() { <-t.stored }

// end ends the storing of texts.
func (t *textsAhead) end() {
	t.stop()
	for more := true; more; { // it is closed once nothing is stored any more
		_, more = <-t.stored
	}
}

// guesses reports whether the type of some attribute was unknown while the sheets were read.
func (s *survey) guesses() bool {
	for _, k := range s.kinds {
		for i := range k.attrs {
			if k.attrs[i].guessed {
				return true
			}
		}
	}
	return false
}

// storeTexts stores the texts up to a number. They are not needed any more then.
func (s *storedSheets) storeTexts(b *datacenter.Builder, end uint32, buf *[]byte) (err error) {
	for ; s.textsStored < end; s.textsStored++ {
		n := s.textsStored
		if s.texts[n], err = b.StoreText(s.standIns.texts.At(n), buf); err != nil {
			return err
		}
	}
	s.standIns.texts.Forget(end)
	return nil
}
