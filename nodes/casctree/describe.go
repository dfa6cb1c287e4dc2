package casctree

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"lorefs/casc"
	"lorefs/internal/flight"
	"lorefs/internal/jsonout"
	"lorefs/internal/wtf8"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
)

// counts need a look at all files; casc.json and storage.svg tell them.
type counts struct {
	notLocal, noKey int
	// folders are the sizes of the files in each folder.
	folders []share
}

// numberWidth is the width of a number, so that the size of casc.json does not depend on
// counts that take long.
const numberWidth = 10

// describe makes casc.json.
func (t *Tree) describe(c counts) []byte {
	b := fmt.Appendf(nil, "{\n  \"schema_version\": %d", jsonout.Version)
	field := func(name string) {
		b = append(wtf8.AppendJSON(append(b, ",\n  "...), name), ": "...)
	}
	text := func(name, value string) {
		if value != "" {
			field(name)
			b = wtf8.AppendJSON(b, value)
		}
	}
	number := func(name string, n int) {
		field(name)
		digits := strconv.Itoa(n)
		for range numberWidth - len(digits) {
			b = append(b, ' ')
		}
		b = append(b, digits...)
	}
	build := &t.st.Build
	text("product", build.Product)
	text("branch", build.Branch)
	text("version", build.Version)
	text("build_name", t.st.BuildConfig.Text("build-name"))
	text("build_uid", t.st.BuildConfig.Text("build-uid"))
	text("build_config", build.BuildKey.String())
	if !build.CDNKey.IsZero() {
		text("cdn_config", build.CDNKey.String())
	}
	field("tags")
	b = appendStrings(b, build.Tags)
	text("root", t.table.kind)
	text("locale", t.st.PreferredLocale().String())
	number("root_entries", t.table.rootRows)
	number("named", t.table.named)
	number("unnamed", t.table.unnamed)
	if !t.st.IsRemote() { // it would have to be read to be counted
		number("not_local", c.notLocal)
		number("encrypted_without_key", c.noKey)
	}
	field("problems")
	problems := make([]string, len(t.problems))
	for i, err := range t.problems {
		problems[i] = err.Error()
	}
	b = appendStrings(b, problems)
	return append(b, "\n}\n"...)
}

// descriptions are casc.json and storage.svg.
type descriptions struct{ text, picture []byte }

// described are the latest descriptions.
type described struct {
	// makes are by storage.Updates before counting.
	makes flight.Group[uint64, *descriptions]

	mu     sync.Mutex // guards the fields below; never held while files are counted
	latest *descriptions
	// updates is storage.Updates before counting.
	updates uint64
}

// get returns the latest descriptions, or nil if the storage has been written to since.
func (d *described) get(updates uint64) *descriptions {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.updates != updates {
		return nil
	}
	return d.latest
}

func (d *described) put(latest *descriptions, updates uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.latest, d.updates = latest, updates
}

// description returns casc.json or storage.svg. It counts again if the storage has been written
// to since.
func (t *Tree) description(ctx context.Context, file nodes.ID) ([]byte, error) {
	t.look()
	d, updates := &t.described, t.st.Updates()
	made := d.get(updates)
	if made == nil {
		var err error
		if made, err = d.makes.Do(ctx, updates, func(ctx context.Context) (*descriptions, error) {
			// Another caller may have made it between our look and our turn.
			if made := d.get(updates); made != nil {
				return made, nil
			}
			made, err := t.newDescriptions(ctx)
			if err != nil {
				return nil, err
			}
			d.put(made, updates)
			return made, nil
		}); err != nil {
			return nil, err
		}
	}
	if file == pictureID {
		return made.picture, nil
	}
	return made.text, nil
}

// newDescriptions makes them. What a storage far away has is not counted, and not drawn.
func (t *Tree) newDescriptions(ctx context.Context) (*descriptions, error) {
	if t.st.IsRemote() {
		return &descriptions{text: t.describe(counts{})}, nil
	}
	c, err := t.count(ctx)
	if err != nil {
		return nil, err
	}
	return &descriptions{t.describe(c), t.draw(c.folders)}, nil
}

// block returns a block of the tree's own.
func block(ctx context.Context, v *blockcache.View, n uint64, load func(context.Context) ([]byte, error)) ([]byte, error) {
	return v.Block(ctx, n, func(ctx context.Context, _ uint64) ([]byte, error) { return load(ctx) })
}

// count looks at all files of the root.
func (t *Tree) count(ctx context.Context) (c counts, err error) {
	// Files in install/ are not the root's, or are there twice.
	install := make([]bool, t.table.nDirs)
	c.folders = make([]share, t.table.nDirs)
	for d := 1; d < t.table.nDirs; d++ {
		p := t.table.parent(d)
		if install[d] = install[p] || p == 0 && string(t.table.dirName(d)) == installName; install[d] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return c, err
		}
		for in := t.table.filesIn(d); in.from < in.to; in.from++ {
			e, is := t.table.entry(in.from), stateLocal
			switch {
			case t.standsIn(in.from) && !t.shown(in.from):
				continue // it is not missed
			case !t.local(in.from):
				if t.firstStandIn(in.from) >= 0 {
					continue
				}
				is = stateMissing
				c.notLocal++
			case e.flags()&flagEncrypted != 0 && t.lacksKey(ctx, e):
				is = stateNoKey
				c.noKey++
			}
			c.folders[d][is] += e.size()
		}
	}
	return c, ctx.Err()
}

// lacksKey reports whether every local form of a file has chunks with an unknown key. It
// returns false if it can't look into a form: reading it says why.
func (t *Tree) lacksKey(ctx context.Context, e entry) bool {
	forms, _, err := t.formsOf(e)
	if err != nil {
		return false
	}
	lacks := false
	for i := range forms {
		info, err := t.st.Stat(ctx, &forms[i])
		switch {
		case err != nil:
		case info.State == casc.StateLocal:
			return false
		case info.State == casc.StateNoKey:
			lacks = true
		}
	}
	return lacks
}
