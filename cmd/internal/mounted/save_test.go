package mounted

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/internal/cores"
	"lorefs/nodes/overlay"
)

// slowSession saves until it is told to go on.
type slowSession struct {
	kinds.Session
	goOn         chan struct{}
	began        chan struct{}
	saving, most atomic.Int32
}

func (e *slowSession) Refused() []overlay.Refused { return nil }
func (e *slowSession) Loose() overlay.Loose       { return overlay.Loose{} }

func (e *slowSession) Save(context.Context, save.How, func(save.Progress)) (save.Report, error) {
	now := e.saving.Add(1)
	defer e.saving.Add(-1)
	e.most.Store(max(e.most.Load(), now))
	e.began <- struct{}{}
	<-e.goOn
	return save.Report{}, nil
}

// Saves that are asked for at the same time run one after the other.
func TestSaveOneAtATime(t *testing.T) {
	cores.Spare(1)
	defer cores.Spare(0)
	procs := runtime.GOMAXPROCS(0)
	editor := &slowSession{goOn: make(chan struct{}), began: make(chan struct{}, 2)}
	m := &Mount{
		opts:   Options{Logger: slog.New(slog.DiscardHandler), Tell: error.Error},
		source: &kinds.Source{Sessions: []kinds.Session{editor}},
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { m.commit(save.How{}) })
	}
	<-editor.began
	if runtime.GOMAXPROCS(0) <= procs {
		t.Error("who writes has no thread beside those of the save")
	}
	if now := m.saves.status(); now == nil || now.Stage != save.Writing || now.Since.IsZero() {
		t.Errorf("while it saves, the status is %+v", now)
	}
	const chance = 100 * time.Millisecond // for the other one to begin too early
	time.Sleep(chance)
	close(editor.goOn)
	both.Wait()
	if editor.most.Load() > 1 {
		t.Error("an editor is to save twice at the same time")
	}
	if now := m.saves.status(); now != nil || runtime.GOMAXPROCS(0) != procs {
		t.Errorf("after the save, the status is %+v, and %d goroutines run at once", now, runtime.GOMAXPROCS(0))
	}
}
