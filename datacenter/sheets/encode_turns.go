package sheets

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"lorefs/internal/cores"
)

// encoders are the idle encoders, and limit their number to one for each core. More would
// not be faster, and would drop blocks from the cache that others need next: with many
// readers and a small cache, each block would be inflated again and again. If none was used again, an export of
// all sheets would take 15 times the CPU time.
type encoders struct {
	turns *semaphore.Weighted // first come, first served
	idle  sync.Pool           // of *encoder
}

const (
	// rememberedBlocks is how many blocks all encoders together keep beyond the cache, and
	// leastRemembered how many each keeps at least.
	rememberedBlocks = 32
	leastRemembered  = 2
)

func (p *encoders) init(newEncoder func(remembered int) *encoder) {
	n := cores.Count()
	p.turns = semaphore.NewWeighted(int64(n))
	p.idle.New = func() any { return newEncoder(max(rememberedBlocks/n, leastRemembered)) }
}

// encoder returns an idle encoder, and waits for one if needed. Its user must not ask for
// another one, nor wait for somebody who does.
func (s *Source) encoder(ctx context.Context) (*encoder, error) {
	if err := s.encoders.turns.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	e := s.encoders.idle.Get().(*encoder)
	e.begin()
	return e, nil
}

// release returns an encoder for reuse.
func (s *Source) release(e *encoder) {
	e.file.Forget()
	e.texts.used, e.tag.plain, e.tag.base = false, false, 0
	e.begin()
	s.encoders.idle.Put(e)
	s.encoders.turns.Release(1)
}
