package sheets

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// encoders are those that nobody uses. There is one for each core: more would make
// nothing faster, but all would drop blocks from the cache that the others need next,
// so that with many readers and a small cache each block is inflated again and again.
type encoders struct {
	turns *semaphore.Weighted // those who wait come in the order in which they asked
	idle  sync.Pool           // of *encoder
}

const (
	// rememberedBlocks is how many blocks all encoders may keep though the cache has
	// dropped them, and leastRemembered what each may in any case.
	rememberedBlocks = 8
	leastRemembered  = 2
)

func (p *encoders) init(newEncoder func(remembered int) *encoder) {
	n := runtime.GOMAXPROCS(0)
	p.turns = semaphore.NewWeighted(int64(n))
	p.idle.New = func() any { return newEncoder(max(rememberedBlocks/n, leastRemembered)) }
}

// encoder gives one that is used by nobody, as soon as there is one. Who has it must not
// ask for another, nor wait for somebody who does.
func (s *Source) encoder(ctx context.Context) (*encoder, error) {
	if err := s.encoders.turns.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	e := s.encoders.idle.Get().(*encoder)
	e.begin()
	return e, nil
}

// release takes it back.
func (s *Source) release(e *encoder) {
	e.file.Forget()
	e.texts.used = false
	e.begin()
	s.encoders.idle.Put(e)
	s.encoders.turns.Release(1)
}
