package daemon

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"lorefs/fs"
)

// retryEvery is how often a busy mount is tried again after a signal.
const retryEvery = time.Second

// Served is a mount that this process serves.
type Served struct {
	server *fs.Server
	dir    string
	log    *slog.Logger
	// stopping is held while unmounting.
	stopping sync.Mutex
}

// NewServed returns the Served of a server on dir.
func NewServed(server *fs.Server, dir string, log *slog.Logger) *Served {
	return &Served{server: server, dir: dir, log: log}
}

// UntilGone waits until the mount is gone, whoever unmounted it. After the first signal it
// tries to unmount until it succeeds; the second signal forces it.
func (s *Served) UntilGone(signals <-chan os.Signal) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.server.Wait()
	}()
	var again <-chan time.Time
	asked := false
	for {
		select {
		case <-gone:
			return
		case <-signals:
			if asked {
				again = nil
				s.insist()
				continue
			}
			asked = true
		case <-again:
		}
		again = s.ask(again == nil)
	}
}

// ask unmounts, or returns when to try again. It logs the reason only the first time.
func (s *Served) ask(first bool) <-chan time.Time {
	err := s.Unmount(false)
	if err == nil {
		return nil
	}
	if first {
		s.log.Warn("can't unmount yet, trying on; a second signal detaches the mount", "mountpoint", s.dir, "err", err)
	}
	return time.After(retryEvery)
}

func (s *Served) insist() {
	if err := s.Unmount(true); err != nil {
		s.log.Error("can't detach the mount", "mountpoint", s.dir, "err", err)
	}
}

// Unmount unmounts. With lazy the mount only disappears, and open files stay until they are
// closed.
func (s *Served) Unmount(lazy bool) error {
	s.stopping.Lock()
	defer s.stopping.Unlock()
	if lazy {
		return fs.Detach(s.dir)
	}
	return s.server.Unmount()
}

// Expire unmounts if nothing has used the mount since it was marked, see [fs.Server.Expire].
func (s *Served) Expire() error {
	s.stopping.Lock()
	defer s.stopping.Unlock()
	return s.server.Expire()
}
