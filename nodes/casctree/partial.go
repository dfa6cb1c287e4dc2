package casctree

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"lorefs/blte"
	"lorefs/nodes"
)

// XattrPartial is the extended attribute of files that have zeros for chunks whose key is not
// known. Each line of its value is the offset, the size and the key of a range of zeros. Only
// a tree of a storage with casc.Options.FillMissingKeys has it.
const XattrPartial = "user.lorefs.partial"

// maxPartial bounds the value, which Linux limits to 64 KiB. A last line of "..." stands for
// further ranges.
const maxPartial = 60_000

var _ nodes.Xattrer = (*Tree)(nil)

// Caps implements [nodes.Capable].
func (t *Tree) Caps() nodes.Caps {
	if t.st.FillsMissingKeys() {
		return nodes.CapXattr
	}
	return 0
}

// Xattr implements [nodes.Xattrer].
func (t *Tree) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	gaps, err := t.gaps(ctx, id)
	if err != nil {
		return nil, err
	}
	if name != XattrPartial || len(gaps) == 0 {
		return nil, fmt.Errorf("%s: %w", name, nodes.ErrNoXattr)
	}
	var value []byte
	for _, g := range gaps {
		if len(value) > maxPartial {
			return append(value, "...\n"...), nil
		}
		value = fmt.Appendf(value, "%d %d %v\n", g.Off, g.Size, g.Key)
	}
	return value, nil
}

// Xattrs implements [nodes.Xattrer].
func (t *Tree) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	gaps, err := t.gaps(ctx, id)
	if err != nil || len(gaps) == 0 {
		return nil, err
	}
	return []string{XattrPartial}, nil
}

// gaps returns the ranges of a node that are read as zeros. A file that can't be read has
// none: reading it says why.
func (t *Tree) gaps(ctx context.Context, id nodes.ID) ([]blte.Gap, error) {
	if t.isDir(id) {
		return nil, nil
	}
	if _, err := t.size(ctx, id); err != nil {
		return nil, err
	}
	if k, _ := splitID(id); k != kindFile && k != kindContent || !t.st.FillsMissingKeys() {
		return nil, nil
	}
	f, _, err := t.readers.get(ctx, id)
	if err != nil {
		return nil, ctx.Err() // see above
	}
	gaps, err := f.gaps(ctx)
	if err != nil {
		return nil, ctx.Err() // see above
	}
	return gaps, nil
}

// partial are the files that were read with zeros for what lacks a key.
type partial struct {
	mu  sync.Mutex // guards ids
	ids map[nodes.ID]struct{}
}

func (p *partial) add(id nodes.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ids == nil {
		p.ids = map[nodes.ID]struct{}{}
	}
	p.ids[id] = struct{}{}
}

// Partial returns the paths of the files that were read so far with zeros for what lacks a key,
// sorted.
func (t *Tree) Partial(ctx context.Context) []string {
	t.partial.mu.Lock()
	ids := slices.Collect(maps.Keys(t.partial.ids))
	t.partial.mu.Unlock()
	var names []string
	for _, id := range ids {
		names = append(names, t.name(ctx, id))
	}
	slices.Sort(names)
	return names
}
