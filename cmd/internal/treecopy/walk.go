package treecopy

import (
	"context"
	"fmt"
	"path"
	"sync"

	"lorefs/internal/cores"
	"lorefs/nodes"
)

// maxQueued is how many files and directories may wait.
const maxQueued = 1 << 10

// job is a file or a directory to be looked at.
type job struct {
	entry nodes.Entry
	path  string
}

// walk walks a tree on several cores.
type walk struct {
	ctx    context.Context //nolint:containedctx // it lives as long as run
	cancel context.CancelCauseFunc
	tree   nodes.Tree
	filter Filter
	// dir is called for each directory but the first, before its entries.
	dir func(path string) error
	// unlisted is called for each directory but the first of which not all entries can be listed.
	unlisted func(path string, err error)
	// file is called for each file, with the worker that does it. Both are called in parallel.
	file func(j job, by *worker)

	// jobs are a stack, so that a deep tree does not pile up. busy is the number of running
	// jobs, which may add others.
	queue struct {
		sync.Mutex
		changed sync.Cond
		jobs    []job
		busy    int
	}
}

// run returns when everything is done, or the context has ended.
func (w *walk) run(from nodes.Entry, o Options) {
	first := job{entry: from}
	if from.Kind != nodes.Dir {
		first.path = from.Name
	}
	w.filter = o.Filter
	if first.path != "" && !w.filter.takes(first.path) {
		return
	}
	w.queue.changed.L = &w.queue
	w.queue.jobs = append(w.queue.jobs, first)
	var all sync.WaitGroup
	for range workerCount(o) {
		all.Go(w.work)
	}
	all.Wait()
}

func workerCount(o Options) int {
	if o.Workers > 0 {
		return o.Workers
	}
	return cores.Count()
}

// work does jobs until there are none, and none can come.
func (w *walk) work() {
	by := &worker{}
	defer by.close()
	q := &w.queue
	q.Lock()
	defer q.Unlock()
	for {
		for len(q.jobs) == 0 && q.busy > 0 {
			q.changed.Wait()
		}
		if len(q.jobs) == 0 {
			return
		}
		j := q.jobs[len(q.jobs)-1]
		q.jobs = q.jobs[:len(q.jobs)-1]
		q.busy++
		q.Unlock()
		w.do(j, by)
		q.Lock()
		q.busy--
		if len(q.jobs) == 0 && q.busy == 0 {
			q.changed.Broadcast()
		}
	}
}

// later queues a job. It returns false if there are enough.
func (w *walk) later(j job) bool {
	q := &w.queue
	q.Lock()
	defer q.Unlock()
	if len(q.jobs) >= maxQueued {
		return false
	}
	q.jobs = append(q.jobs, j)
	q.changed.Signal()
	return true
}

// do calls file for a file, or lists a directory.
func (w *walk) do(j job, by *worker) {
	switch {
	case w.ctx.Err() != nil:
	case j.entry.Kind == nodes.Dir:
		if err := w.list(j, by); err != nil {
			w.cancel(err)
		}
	default:
		w.file(j, by)
	}
}

// list calls dir for the directories in a directory, and queues or does its entries.
func (w *walk) list(dir job, by *worker) error {
	for e, err := range w.tree.ReadDir(w.ctx, dir.entry.ID, 0) {
		if err == nil {
			err = w.ctx.Err()
		}
		if err != nil && dir.path != "" && w.ctx.Err() == nil {
			w.unlisted(dir.path, err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("list %q: %w", "/"+dir.path, err)
		}
		if e.ModTime.IsZero() {
			e.ModTime = dir.entry.ModTime
		}
		j := job{e, path.Join(dir.path, e.Name)}
		switch {
		case e.Kind != nodes.Dir:
			if !w.filter.takes(j.path) {
				continue
			}
		case !w.filter.enters(j.path):
			continue
		default:
			if err := w.dir(j.path); err != nil {
				return err
			}
		}
		if !w.later(j) {
			w.do(j, by)
		}
	}
	return nil
}
