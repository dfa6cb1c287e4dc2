package treecopy

import (
	"fmt"
	"sync"

	"lorefs/nodes"
)

// maxGathered is how many files are gathered before they are copied: many enough for files that
// lie close to each other to meet, and few enough for the memory.
const maxGathered = 1 << 16

// gathering gathers files, and copies them in the order of Options.Rows.
type gathering struct {
	*copying
	jobs []job
}

// add takes a file. What is not read has no place in the order.
func (g *gathering) add(j job, by *worker) {
	if j.entry.Kind != nodes.File || g.stays(j.path) {
		g.one(j, by)
		return
	}
	if g.jobs = append(g.jobs, j); len(g.jobs) == maxGathered {
		g.flush()
	}
}

// stays reports whether there is a file already that is not replaced.
func (g *gathering) stays(path string) bool {
	if g.o.Overwrite {
		return false
	}
	_, err := g.root.Lstat(path)
	return err == nil
}

// flush copies what was gathered.
func (g *gathering) flush() {
	defer func() { g.jobs = g.jobs[:0] }()
	if len(g.jobs) == 0 || g.ctx.Err() != nil {
		return
	}
	ids := make([]nodes.ID, len(g.jobs))
	for i := range g.jobs {
		ids[i] = g.jobs[i].entry.ID
	}
	rows, err := g.o.Rows(g.ctx, ids)
	if err != nil {
		g.cancel(fmt.Errorf("find out where files lie: %w", err))
		return
	}
	next := make(chan []int)
	var workers sync.WaitGroup
	for range min(workerCount(g.o), len(rows)) {
		workers.Go(func() {
			by := &worker{}
			defer by.close()
			for row := range next {
				g.row(row, by)
			}
		})
	}
	for _, row := range rows {
		next <- row
	}
	close(next)
	workers.Wait()
}

// row copies files one after another.
func (g *gathering) row(row []int, by *worker) {
	for _, i := range row {
		if g.ctx.Err() != nil {
			return
		}
		g.one(g.jobs[i], by)
	}
}
