package keytree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/nodes"
)

// listing holds the entries of a directory.
type listing struct {
	items []item // in the order of their cursors
	// byName has the places of the items.
	byName map[string]uint32
}

// item is an entry of a listing.
type item struct {
	// cursor orders entries: a number that the entry keeps when others come and go.
	cursor uint64
	id     nodes.ID
	name   string
	// size is the length of the target of a link.
	size uint32
}

func (l *listing) entry(i int) nodes.Entry {
	x := &l.items[i]
	e := nodes.Entry{Name: x.name, ID: x.id, Kind: nodes.Dir, Size: int64(x.size), Next: x.cursor + 1}
	if x.id&linkBit != 0 {
		e.Kind = nodes.Link
	}
	return e
}

// lister collects the items of a listing. Their names may be equal.
type lister struct {
	items []item
	ends  []int // of the names, in text
	text  []byte
}

// add adds an item, whose name was appended to text.
func (l *lister) add(x item) {
	l.items = append(l.items, x)
	l.ends = append(l.ends, len(l.text))
}

// listing returns the listing of what was added, in which the second of equal names has a
// number.
func (l *lister) listing() *listing {
	text, from := string(l.text), 0 // all names share its memory
	for i, end := range l.ends {
		l.items[i].name, from = text[from:end], end
	}
	byCursor := func(a, b item) int { return cmp.Compare(a.cursor, b.cursor) }
	if !slices.IsSortedFunc(l.items, byCursor) {
		slices.SortFunc(l.items, byCursor)
	}
	byName, more := make(map[string]uint32, len(l.items)), map[string]uint32{}
	for i := range l.items {
		x := &l.items[i]
		if _, twice := byName[x.name]; twice {
			more[x.name]++
			x.name = numbered(x.name, more[x.name]+1)
		}
		byName[x.name] = uint32(i)
	}
	return &listing{slices.Clip(l.items), byName}
}

// list makes the listing of a directory.
func (t *Tree) list(ctx context.Context, p place, f *sheets.Family) (*listing, error) {
	var l lister
	var err error
	switch p.kind {
	case family:
		info, infoErr := t.info(ctx, f)
		switch {
		case infoErr != nil:
			err = infoErr
		case info.keyed:
			err = t.listSheets(ctx, f, &l)
		default:
			err = t.listNames(ctx, f, p, &l)
		}
	case sheet:
		err = t.listNames(ctx, f, p, &l)
	default:
		err = t.listLinks(ctx, f, p, &l)
	}
	return l.listing(), err
}

// listSheets lists the sheets of a family with keys that have something to show.
func (t *Tree) listSheets(ctx context.Context, f *sheets.Family, l *lister) error {
	return t.eachSheet(ctx, f, place{}, func(s *node) (bool, error) {
		shows, err := t.shows(ctx, s)
		if err != nil || !shows {
			return true, err
		}
		var ok bool
		if l.text, ok, err = t.appendKeys(l.text, s); ok {
			l.add(item{cursor: uint64(s.number), id: place{kind: sheet, of: uint32(s.number)}.id()})
		}
		return true, err
	})
}

// listNames lists the names of the children of one sheet, or of all sheets of a family.
func (t *Tree) listNames(ctx context.Context, f *sheets.Family, p place, l *lister) error {
	kids := place{kind: familyKids, of: f.ID()}
	if p.kind == sheet {
		kids = place{kind: sheetKids, of: p.of}
	}
	seen := map[string]bool{}
	return t.eachSheet(ctx, f, p, func(s *node) (bool, error) {
		return true, t.children(ctx, s, func(c *node) (bool, error) {
			if seen[c.name] {
				return true, nil
			}
			listed, err := t.isListed(c)
			if err != nil || !listed {
				return true, err
			}
			var ok bool
			if kids.name, ok = t.names.number(c.name); !ok {
				return false, fmt.Errorf("%w: no number is left for a directory", nodes.ErrTooLarge)
			}
			seen[c.name] = true
			l.text = append(l.text, t.names.spell(c.name)...)
			l.add(item{cursor: uint64(kids.name), id: kids.id()})
			t.cache.addName(f, kids.name)
			return true, nil
		})
	})
}

// listLinks lists the children of one name of one sheet, or of all sheets of a family.
func (t *Tree) listLinks(ctx context.Context, f *sheets.Family, p place, l *lister) error {
	name, ok := t.names.text(p.name)
	if !ok {
		return nodes.NotExist(p.id())
	}
	return t.eachSheet(ctx, f, p, func(s *node) (bool, error) {
		above := len(t.targetOf(p.kind == sheetKids, s, nil))
		return true, t.children(ctx, s, func(c *node) (bool, error) {
			if c.name != name {
				return true, nil
			}
			var err error
			if l.text, ok, err = t.appendKeys(l.text, c); ok {
				l.add(item{cursor: uint64(c.number), id: linkTo(s, c.number).id(), size: uint32(above + len(t.names.path(c)))})
			}
			return true, err
		})
	})
}

// linkTo returns the link to a child of a sheet.
func linkTo(s *node, child edit.Number) place {
	p := place{kind: link, node: child}
	if s.has(child) {
		p.of = uint32(s.number)
	}
	return p
}

// eachSheet calls visit for the sheet of p, if it is in one, or for the sheets of a family, until
// visit returns false.
func (t *Tree) eachSheet(ctx context.Context, f *sheets.Family, p place, visit func(*node) (bool, error)) error {
	if p.kind == sheet || p.kind == sheetKids {
		s, ok := t.src.Sheet(edit.Number(p.of))
		if !ok {
			return nodes.NotExist(p.id())
		}
		x, err := t.sheet(s)
		if err == nil {
			_, err = visit(&x)
		}
		return err
	}
	for s := range f.Sheets(0) {
		x, err := t.sheet(s)
		if errors.Is(err, edit.ErrGone) {
			continue // it was removed meanwhile
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if more, err := visit(&x); err != nil || !more {
			return err
		}
	}
	return nil
}

// shows reports whether a sheet has children that are listed.
func (t *Tree) shows(ctx context.Context, s *node) (shows bool, err error) {
	err = t.children(ctx, s, func(c *node) (bool, error) {
		shows, err = t.isListed(c)
		return !shows, err
	})
	return shows, err
}

// familyInfo decides how the directory of a family looks.
type familyInfo struct {
	// keyed says that a sheet has a key definition, and so each sheet a directory.
	keyed bool
	// shows says that there is something in the directory.
	shows bool
}

// info returns what is known about a family, and finds it out if needed.
func (t *Tree) info(ctx context.Context, f *sheets.Family) (familyInfo, error) {
	info, state, ok := t.cache.info(f)
	if ok {
		return info, nil
	}
	err := t.eachSheet(ctx, f, place{}, func(s *node) (bool, error) {
		info.keyed = isKeyed(s)
		return !info.keyed, nil
	})
	if err == nil {
		err = t.eachSheet(ctx, f, place{}, func(s *node) (bool, error) {
			listed := true
			var err error
			if info.keyed {
				listed, err = t.isListed(s)
			}
			if listed && err == nil {
				info.shows, err = t.shows(ctx, s)
			}
			return !info.shows, err
		})
	}
	if err == nil {
		t.cache.putInfo(f, info, state)
	}
	return info, err
}

// cachedItems is the most items in all listings that are kept, each of about 100 bytes. The last
// listing is kept even if it has more.
const cachedItems = 1 << 18

// cache keeps listings and infos until something in the family is edited.
type cache struct {
	// making is held while a listing is made, so that many readers who want the same one make it
	// once. It is taken before mu, and by nobody who is told of edits.
	making sync.Mutex
	// mu guards the fields below, only while memory is used.
	mu    sync.Mutex
	lru   *simplelru.LRU[nodes.ID, cachedListing]
	items int
	infos map[uint32]familyInfo
	// edits counts, for each family, how often something in it was edited.
	edits map[uint32]uint64
	// seen has, for each family, the numbers of the names of children that were ever listed.
	seen map[uint32]map[uint32]bool
}

// cachedListing is a listing in the cache.
type cachedListing struct {
	*listing
	family uint32
}

// weight says how much a listing counts in the cache.
func (l *listing) weight() int { return len(l.items) + 16 }

func (c *cache) init() {
	c.infos, c.edits, c.seen = map[uint32]familyInfo{}, map[uint32]uint64{}, map[uint32]map[uint32]bool{}
	var err error
	if c.lru, err = simplelru.NewLRU[nodes.ID, cachedListing](cachedItems, func(_ nodes.ID, l cachedListing) { c.items -= l.weight() }); err != nil {
		panic(fmt.Sprintf("keytree: BUG: %v", err))
	}
}

// get returns a listing that is kept, or how often its family was edited.
func (c *cache) get(id nodes.ID, f *sheets.Family) (l *listing, state uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, _ := c.lru.Get(id)
	return k.listing, c.edits[f.ID()]
}

// put keeps a listing, unless its family was edited since state.
func (c *cache) put(id nodes.ID, f *sheets.Family, l *listing, state uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.edits[f.ID()] != state {
		return
	}
	c.lru.Remove(id)
	c.items += l.weight()
	c.lru.Add(id, cachedListing{l, f.ID()})
	for c.items > cachedItems && c.lru.Len() > 1 {
		c.lru.RemoveOldest()
	}
}

// info and putInfo are get and put for infos.
func (c *cache) info(f *sheets.Family) (info familyInfo, state uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, ok = c.infos[f.ID()]
	return info, c.edits[f.ID()], ok
}

func (c *cache) putInfo(f *sheets.Family, info familyInfo, state uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.edits[f.ID()] == state {
		c.infos[f.ID()] = info
	}
}

// addName records the name of a directory of links.
func (c *cache) addName(f *sheets.Family, name uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[f.ID()] == nil {
		c.seen[f.ID()] = map[uint32]bool{}
	}
	c.seen[f.ID()][name] = true
}

// names returns what was noted of a family.
func (c *cache) names(f *sheets.Family) (names []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.seen[f.ID()] {
		names = append(names, name)
	}
	return names
}

// drop drops everything about a family that was edited.
func (c *cache) drop(f *sheets.Family) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.edits[f.ID()]++
	delete(c.infos, f.ID())
	for _, id := range c.lru.Keys() {
		if k, _ := c.lru.Peek(id); k.family == f.ID() {
			c.lru.Remove(id)
		}
	}
}
