package registry

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/internal/origin"
)

// maxLooked is how many entries of a folder are looked at for sources.
const maxLooked = 1000

// held returns the sources in a folder that is none itself: those directly in it, and the data centers
// of an installed client of TERA.
func held(ctx context.Context, dir string, o *kinds.Options) (sources []kinds.Held) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // that it can't be listed was said before
	}
	for _, e := range entries[:min(len(entries), maxLooked)] {
		if ctx.Err() != nil {
			return nil
		}
		if k := kindOf(filepath.Join(dir, e.Name()), o); k != nil {
			sources = append(sources, kinds.Held{Path: e.Name(), Kind: k.Name})
		}
	}
	for _, path := range installed(dir) {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.Dir(rel) != "." {
			sources = append(sources, kinds.Held{Path: rel, Kind: kinds.DataCenterName})
		}
	}
	return sources
}

// kindOf returns the kind of what is at a path, or nil. Any file may be a data center, so that is tried.
func kindOf(path string, o *kinds.Options) *kinds.Kind {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	for _, k := range All() {
		is, err := k.Recognize(path, info)
		if err == nil && is && (!k.AnyFile || dckind.CheckDataCenter(path, o) == nil) {
			return k
		}
	}
	return nil
}

// clientFolders lead from the folder of an installed client of TERA to its data centers, one for each
// language. A user may name any of them.
var clientFolders = []string{"Client", "S1Game", "S1Data"}

// installed returns the data centers of the client of TERA that is installed in a folder.
func installed(dir string) (files []string) {
	for _, name := range clientFolders {
		if below := entryOf(dir, name); below != "" {
			dir = below
		}
	}
	if !strings.EqualFold(filepath.Base(dir), clientFolders[len(clientFolders)-1]) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.Type().IsRegular() && strings.HasPrefix(name, "datacenter_final") && strings.HasSuffix(name, ".dat") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// entryOf returns the folder in dir of a name in any case, or nothing.
func entryOf(dir, name string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.IsDir() && strings.EqualFold(e.Name(), name) })
	if i < 0 {
		return ""
	}
	return filepath.Join(dir, entries[i].Name())
}

// Meant returns the source that a path means: the data center of a client of TERA for the folder that
// it is installed in, if there is only one, and else the path itself.
func Meant(path string) string {
	if origin.IsRemote(path) {
		return path
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	if files := installed(path); len(files) == 1 {
		return files[0]
	}
	return path
}
