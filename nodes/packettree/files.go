package packettree

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"
	"sync/atomic"

	"lorefs/internal/wtf8"
	"lorefs/nodes"
	"lorefs/protocol"
)

// files is a directory of files that are made from others.
type files struct {
	names   []string
	indexes map[string]int
	// sizes has the size of each file plus 1, or 0 if nobody has asked.
	sizes   []atomic.Uint32
	content func(i int) ([]byte, error)
}

func newFiles(names []string, content func(i int) ([]byte, error)) files {
	f := files{names: names, indexes: make(map[string]int, len(names)), sizes: make([]atomic.Uint32, len(names)), content: content}
	for i, name := range names {
		f.indexes[name] = i
	}
	return f
}

// find returns the ID of a file, or 0.
func (f *files) find(k kind, name string) nodes.ID {
	i, ok := f.indexes[name]
	if !ok {
		return 0
	}
	return makeID(k, i)
}

// fileEntry describes a file.
func (t *Tree) fileEntry(f *files, k kind, i int) (nodes.Entry, error) {
	e := nodes.Entry{Name: f.names[i], ID: makeID(k, i), Kind: nodes.File, ModTime: t.opts.ModTime}
	size := f.sizes[i].Load()
	if size == 0 {
		b, err := f.content(i)
		if err != nil {
			return nodes.Entry{}, notEnd(err)
		}
		size = uint32(len(b)) + 1
		f.sizes[i].Store(size)
	}
	e.Size = int64(size - 1)
	return e, nil
}

func (t *Tree) listDefinitions() {
	if t.lib == nil {
		return
	}
	list := t.lib.Definitions()
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.String() + ".json"
	}
	t.defs = newFiles(names, func(i int) ([]byte, error) {
		d, err := t.lib.Definition(i)
		if isWrong(err) {
			return wrongFile(list[i].Path, err), nil
		}
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		err = enc.Encode(d)
		return b.Bytes(), err
	})
}

func (t *Tree) listMaps() {
	if t.lib == nil {
		return
	}
	list := t.lib.Maps()
	names := make([]string, len(list))
	taken := make(map[string]bool, len(list))
	for i, m := range list {
		name := mapName(m.Path)
		if taken[name] { // in another folder, or as .map and .json
			name = strings.ReplaceAll(m.Path, "/", "_")
			if path.Ext(name) != ".json" {
				name += ".json"
			}
		}
		for n := 2; taken[name]; n++ {
			name = strings.TrimSuffix(mapName(m.Path), ".json") + "~" + strconv.Itoa(n) + ".json"
		}
		taken[name], names[i] = true, name
	}
	t.maps = newFiles(names, func(i int) ([]byte, error) {
		m, err := t.lib.Map(i)
		if isWrong(err) {
			return wrongFile(list[i].Path, err), nil
		}
		if err != nil {
			return nil, err
		}
		return m.AppendJSON(nil), nil
	})
}

// mapName returns the name of a map's file in the tree.
func mapName(file string) string {
	base := path.Base(file)
	if name, ok := strings.CutSuffix(base, ".map"); ok {
		return name + ".json"
	}
	return base
}

// isWrong reports whether err concerns one definition or map that can't be read or parsed.
// Such a file must not keep the others from being listed.
func isWrong(err error) bool {
	_, wrong := errors.AsType[*protocol.SyntaxError](err)
	return wrong
}

// wrongFile returns the content that is shown for a definition or a map that can't be read.
func wrongFile(name string, err error) []byte {
	dst := wtf8.AppendJSON([]byte(`{"file":`), name)
	dst = wtf8.AppendJSON(append(dst, `,"error":`...), err.Error())
	return append(dst, "}\n"...)
}
