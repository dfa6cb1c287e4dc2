package registry

import (
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/bundlekind"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/kinds/packetkind"
	"lorefs/cmd/internal/kinds/tablekind"
	"lorefs/cmd/internal/kinds/worldkind"
	"lorefs/geometry"
	"lorefs/internal/origin"
	"lorefs/internal/remote/objects"
	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// findDistant is Find for a source on a server.
func findDistant(ctx context.Context, name, kind string, o *kinds.Options) (*kinds.Kind, error) {
	at := origin.Parse(name)
	if err := at.Check(); err != nil {
		return nil, &kinds.Error{Err: err}
	}
	for _, k := range All() {
		if k.Name == kind {
			return k, nil
		}
	}
	if at.Scheme == origin.CDN || onlyOfMirror(&o.CASC) {
		return casckind.Kind(), nil
	}
	s, err := kinds.OpenServer(ctx, name, o.ObjectCache(), o)
	if err != nil {
		return nil, kinds.Unreadable(name, err)
	}
	defer s.Close()
	k, err := distantKind(ctx, s)
	if err == nil && k == nil {
		err = kinds.Errorf("%s: %w", at.Shown(), kinds.ErrUnknown)
	}
	return k, kinds.Unreadable(name, err)
}

// onlyOfMirror reports whether options say that the source is a mirror, so that nobody need be
// asked for its kind.
func onlyOfMirror(o *kinds.CASCOptions) bool {
	return o.CDN.Offline || !o.Storage.BuildKey.IsZero() && !o.Storage.CDNKey.IsZero()
}

// distantKind returns the kind of what the store has, or nil.
func distantKind(ctx context.Context, s *kinds.Server) (*kinds.Kind, error) {
	is, err := s.IsObject(ctx)
	switch {
	case err != nil:
		return nil, err
	case !is:
		return kindOfTree(ctx, s)
	}
	f, err := s.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	format, err := capture.Detect(f, f.Size())
	if err != nil || format != 0 {
		return packetkind.Kind(), err
	}
	if tablekind.IsTable(f) {
		return tablekind.Kind(), nil
	}
	for _, b := range bundlekind.Formats {
		if is, err := b.Detect(f, f.Size()); is || err != nil {
			return bundlekind.Kind(b), err
		}
	}
	return dckind.Kind(), nil
}

// kindOfTree looks at the names at the top of a tree, and in the folders there.
func kindOfTree(ctx context.Context, s *kinds.Server) (*kinds.Kind, error) {
	count := 0
	var kind *kinds.Kind
	for name, err := range s.Top(ctx) {
		if errors.Is(err, iofs.ErrNotExist) {
			// Only a mirror can be read without a list of its files.
			return casckind.Kind(), nil
		}
		if err != nil {
			return nil, err
		}
		count++
		if k := kindOfName(name); k != nil {
			return k, nil
		}
	}
	if count == 0 {
		return nil, kinds.Errorf("%s: nothing is there", s.Origin().Shown())
	}
	d, err := s.OpenFolder(ctx)
	if err == nil && anyBelow(d) {
		kind = packetkind.Kind()
	}
	return kind, err
}

// kindOfName returns the kind of a tree that has a name at its top, or nil.
func kindOfName(name string) *kinds.Kind {
	switch dir, isDir := strings.CutSuffix(name, "/"); {
	case isDir && (dir == "config" || dir == "data"), name == ".build.info":
		return casckind.Kind()
	case !isDir && geometry.IsFile(name):
		return worldkind.Kind()
	case !isDir && tablekind.IsName(name):
		return tablekind.Kind()
	case !isDir:
		if n, ok := protocol.ParseFileName(name); ok && !n.Script {
			return packetkind.Kind()
		}
	}
	return nil
}

// anyBelow reports whether a folder directly below the top has definitions.
func anyBelow(d *objects.Folder) bool {
	top, err := d.ReadDir(".")
	if err != nil {
		return false
	}
	if packetkind.AnyDefinition(d, ".", top) {
		return true
	}
	for _, e := range top {
		if !e.IsDir() {
			continue
		}
		below, err := d.ReadDir(e.Name())
		if err == nil && packetkind.AnyDefinition(d, path.Clean(e.Name()), below) {
			return true
		}
	}
	return false
}
