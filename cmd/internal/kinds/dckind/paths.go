package dckind

import (
	"errors"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
	"lorefs/internal/cores"
)

const (
	// mostAhead is the number of edits whose paths are found before they are listed, and
	// fewAhead the number of paths that are too few to divide the work.
	mostAhead = 1 << 17
	fewAhead  = 1 << 10
	// maxFinders is the largest number of goroutines that find paths, each of which has tables of
	// the siblings that it meets and keeps blocksToFind blocks of the file in memory.
	maxFinders   = 4
	blocksToFind = 16
)

// addFinder adds what finds the paths of nodes of the base, for one goroutine.
func (l *dataCenterEdits) addFinder() error {
	f, err := identity.NewFilePaths(l.ctx, l.base.Private(blocksToFind).File, func(n uint32) []string { return l.changing[edit.Number(n)] })
	l.finders = append(l.finders, f)
	return err
}

// findAhead finds the paths of the nodes of some edits, several at a time.
func (l *dataCenterEdits) findAhead(changes []dataCenterEdit) error {
	l.ahead = make(map[edit.Number]string, len(changes))
	var numbers []edit.Number // they ascend
	for i := range changes {
		n := changes[i].at[0]
		if m := len(numbers); n > 0 && (m == 0 || numbers[m-1] != n) {
			numbers = append(numbers, n)
		}
	}
	parts := min(cores.Count(), maxFinders)
	if len(numbers) < fewAhead {
		parts = 1
	}
	for len(l.finders) < parts {
		if err := l.addFinder(); err != nil {
			return err
		}
	}
	paths := make([]string, len(numbers))
	var group errgroup.Group
	for part := range parts {
		group.Go(func() (err error) {
			for i := part * len(numbers) / parts; i < (part+1)*len(numbers)/parts && err == nil; i++ {
				paths[i], err = l.find(l.finders[part], numbers[i])
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, n := range numbers {
		l.ahead[n] = paths[i]
	}
	return nil
}

// find returns the path of a node of the base.
func (l *dataCenterEdits) find(by *identity.FilePaths, n edit.Number) (string, error) {
	way, err := by.Find(uint32(n))
	if err != nil {
		return "", err
	}
	expr, err := by.Path(way)
	if errors.Is(err, identity.ErrTooMany) {
		return byPlaces(way), nil
	}
	return expr, err
}

// byPlaces returns a path that goes by places only.
func byPlaces(way []identity.Located) string {
	var steps []query.PlainStep
	for _, at := range way[1:] {
		steps = append(steps, query.PlainStep{Name: at.Step.Name, Nth: at.Step.Place + 1})
	}
	return string(query.AppendPlain(nil, steps))
}
