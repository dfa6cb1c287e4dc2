package casctree

import (
	"context"
	"strconv"
	"sync"

	"lorefs/casc"
	"lorefs/internal/wtf8"
	"lorefs/nodes/blockcache"
)

// counts are those of casc.json that take a look at all files.
type counts struct {
	notLocal, noKey int
}

// numberWidth is the room for a number, so that the size of casc.json does not depend
// on what takes long to count.
const numberWidth = 10

// describe makes casc.json.
func (t *Tree) describe(c counts) []byte {
	b := []byte("{")
	field := func(name string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(wtf8.AppendJSON(append(b, "\n  "...), name), ": "...)
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
	number("not_local", c.notLocal)
	number("encrypted_without_key", c.noKey)
	field("problems")
	problems := make([]string, len(t.problems))
	for i, err := range t.problems {
		problems[i] = err.Error()
	}
	b = appendStrings(b, problems)
	return append(b, "\n}\n"...)
}

// described is casc.json as it was made last.
type described struct {
	mu   sync.Mutex // held while files are counted, so that they are counted once
	data []byte
	// updates is how often the storage had been written to before.
	updates uint64
}

// description is casc.json with its counts, which are taken anew when the storage has been
// written to since.
func (t *Tree) description(ctx context.Context) ([]byte, error) {
	t.look()
	d := &t.described
	d.mu.Lock()
	defer d.mu.Unlock()
	updates := t.st.Updates()
	if d.data != nil && d.updates == updates {
		return d.data, nil
	}
	c, err := t.count(ctx)
	if err != nil {
		return nil, err
	}
	d.data, d.updates = t.describe(c), updates
	return d.data, nil
}

// block returns a block of the tree's own. Who made the block may leave: others may
// wait for it.
func block(ctx context.Context, v *blockcache.View, n uint64, load func(context.Context) ([]byte, error)) ([]byte, error) {
	ctx = context.WithoutCancel(ctx)
	return v.Block(n, func(uint64) ([]byte, error) { return load(ctx) })
}

// count looks at all files that the root gives.
func (t *Tree) count(ctx context.Context) (c counts, err error) {
	// Those of install/ are not the root's, or are there twice.
	install := make([]bool, t.table.nDirs)
	for d := 1; d < t.table.nDirs; d++ {
		p := t.table.parent(d)
		if install[d] = install[p] || p == 0 && string(t.table.dirName(d)) == installName; install[d] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return c, err
		}
		for in := t.table.filesIn(d); in.from < in.to; in.from++ {
			e := t.table.entry(in.from)
			switch {
			case !t.isLocal(e):
				c.notLocal++
			case e.flags()&flagEncrypted != 0 && t.lacksKey(e):
				c.noKey++
			}
		}
	}
	return c, nil
}

// lacksKey reports whether some of a file is encrypted with a key that is not known, in
// each form that is here. One that can't be looked into is not counted: reading it tells
// why.
func (t *Tree) lacksKey(e entry) bool {
	forms, _, err := t.formsOf(e)
	if err != nil {
		return false
	}
	lacks := false
	for i := range forms {
		info, err := t.st.Stat(&forms[i])
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
