package registry

import (
	"context"
	"os"

	"lorefs/casc"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/bundlekind"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/kinds/packetkind"
	"lorefs/cmd/internal/kinds/tablekind"
	"lorefs/cmd/internal/kinds/worldkind"
	"lorefs/internal/origin"
)

// All returns the kinds in the order in which Find tries them. Data centers come last: they
// look like noise until they are decrypted, so any file of no other kind is taken for one.
func All() []*kinds.Kind {
	all := []*kinds.Kind{casckind.Kind(), worldkind.Kind(), packetkind.Kind(), tablekind.Kind()}
	for _, f := range bundlekind.Formats {
		all = append(all, bundlekind.Kind(f))
	}
	return append(all, dckind.Kind())
}

// Find returns the kind of the source at a path, or of another spelling of package origin. If
// name is not empty, it returns the kind of that name without looking at the source. A folder
// of no kind may be in a CASC storage, which is then the source. The error is an [*kinds.Error].
func Find(ctx context.Context, path, name string, o *kinds.Options) (*kinds.Kind, error) {
	if origin.IsRemote(path) {
		return findDistant(ctx, path, name, o)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, kinds.Unreadable(path, err)
	}
	if name == "" && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, kinds.Errorf("%s: %w: the file is empty", path, kinds.ErrUnknown)
	}
	for _, k := range All() {
		if name != "" {
			if k.Name == name {
				return k, nil
			}
			continue
		}
		is, err := k.Recognize(path, info)
		if err != nil {
			return nil, kinds.Unreadable(path, err)
		}
		if is {
			return k, nil
		}
	}
	switch dir, err := casc.Enclosing(path); {
	case err != nil:
		return nil, kinds.Unreadable(path, err)
	case dir != "":
		return casckind.Kind(), nil
	}
	if entries, err := os.ReadDir(path); err == nil && len(entries) == 0 {
		return nil, kinds.Errorf("%s: %w: the folder is empty", path, kinds.ErrUnknown)
	}
	if name == "" && info.IsDir() {
		if sources := held(ctx, path, o); len(sources) > 0 {
			return nil, &kinds.Error{Err: &kinds.FolderError{Path: path, Sources: sources}}
		}
	}
	return nil, kinds.Errorf("%s: %w", path, kinds.ErrUnknown)
}
