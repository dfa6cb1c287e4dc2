package patch

import (
	"lorefs/internal/formats/datacenter/identity"
)

// Guarded returns a path with guards of its places, for places of which only is known what
// was there before the patch. Such a guard is good as long as all siblings are as they were.
func Guarded(expr string, places []identity.Place) (Path, []Guard, error) {
	path, err := ParsePath(expr)
	if err != nil {
		return path, nil, err
	}
	known := func(h uint64) Hash {
		if h == 0 {
			return 0
		}
		return HashOf(h)
	}
	var guards []Guard
	for _, p := range places {
		if p.Step >= len(path.Steps) {
			break
		}
		guards = append(guards, Guard{
			Step: bareStep(&path.Steps[p.Step]), N: p.N, Of: p.Of, NewN: p.N, NewOf: p.Of,
			Old: known(p.Group), Self: known(p.Self), Before: known(p.Before), After: known(p.After), Alone: ByGroup,
		})
	}
	return path, guards, nil
}

// Parent returns the path without its last step, and the sibling that this step is, so that
// a node can be added behind it.
func (p *Path) Parent() (parent Path, sibling Beside) {
	last := p.Steps[len(p.Steps)-1]
	last.Nth, last.NthOfAll = placeOf(&last), 0
	b := Block{Path: Path{Steps: p.Steps[:len(p.Steps)-1]}, Beside: Beside{Text: "?", Step: last}}
	b.respell()
	return b.Path, b.Beside
}
