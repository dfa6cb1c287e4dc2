package kinds

import (
	"context"
	iofs "io/fs"
	"iter"
	"os"

	"lorefs/casc"
	"lorefs/internal/origin"
)

// Names of the kinds, as users write them.
const (
	DataCenterName = "datacenter"
	WorldName      = "world"
	CASCName       = "casc"
	PacketsName    = "packets"
)

// Kind is a kind of source: how to recognize one, open it and check it.
type Kind struct {
	Name string
	// Noun names such a source in messages.
	Noun string
	// Exports is the directory that export copies by default; empty for the root.
	Exports string
	// Plain is the directory with the whole source and nothing rendered; empty for the root.
	Plain string

	// Links is the directory in which there are only links; empty if there is none.
	Links string
	// IgnoresCase says that lookups of names in another case succeed.
	IgnoresCase bool
	// Editable says that such sources can be edited.
	Editable bool
	// Strict says that a strict check of such sources finds more.
	Strict bool
	// Sheets says that such a source has sheets, which patches, queries and schemas are about.
	Sheets bool
	// Builds says that such a source may have several builds, which can be compared.
	Builds bool
	// Chunks says that files are read by large chunks, which no two files share.
	Chunks bool
	// AnyFile says that any file of no other kind is taken for such a source.
	AnyFile bool
	// GamePaths says that paths may also be those of the game: below Plain, and with backslashes.
	GamePaths bool
	// Pack packs the files of a folder into a source, and checks what was written. The caller
	// must have a claim on that. It is nil for kinds that are no folder of any files.
	Pack func(ctx context.Context, dir, to string, o FolderPacking) (Packed, error)

	// is reports whether a path leads to a source of this kind.
	is     func(path string, info iofs.FileInfo) (bool, error)
	open   func(ctx context.Context, path string, o opening) (archive, error)
	verify func(ctx context.Context, path string, o opening, v VerifyOptions) iter.Seq2[Finding, error]
}

// All returns the kinds in the order in which Find tries them. Data centers come last: they
// look like noise until they are decrypted, so any file of no other kind is taken for one.
func All() []*Kind {
	all := []*Kind{cascKind(), worldKind(), packetsKind()}
	for _, f := range bundles {
		all = append(all, bundleKind(f))
	}
	return append(all, dataCenterKind())
}

// Find returns the kind of the source at a path, or of another spelling of package origin. If
// name is not empty, it returns the kind of that name without looking at the source. A folder
// of no kind may be in a CASC storage, which is then the source. The error is an [*Error].
func Find(ctx context.Context, path, name string, o *Options) (*Kind, error) {
	if origin.IsRemote(path) {
		return findDistant(ctx, path, name, o)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	if name == "" && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, errorf("%s: %w: the file is empty", path, ErrUnknown)
	}
	for _, k := range All() {
		if name != "" {
			if k.Name == name {
				return k, nil
			}
			continue
		}
		is, err := k.is(path, info)
		if err != nil {
			return nil, Unreadable(path, err)
		}
		if is {
			return k, nil
		}
	}
	switch dir, err := casc.Enclosing(path); {
	case err != nil:
		return nil, Unreadable(path, err)
	case dir != "":
		return cascKind(), nil
	}
	if entries, err := os.ReadDir(path); err == nil && len(entries) == 0 {
		return nil, errorf("%s: %w: the folder is empty", path, ErrUnknown)
	}
	return nil, errorf("%s: %w", path, ErrUnknown)
}
