package kinds

import (
	"context"
	iofs "io/fs"
	"iter"
	"os"
)

// Names of the kinds, as users write them.
const (
	DataCenterName = "datacenter"
	WorldName      = "world"
	CASCName       = "casc"
	PacketsName    = "packets"
)

// Kind is what there is to know of one kind of source ahead of opening it.
type Kind struct {
	Name string
	// Noun is what messages call one.
	Noun string
	// Exports is the directory that is copied unless somebody names another; empty: all.
	Exports string
	// Plain is the directory that has all of the source with nothing rendered; empty: all.
	Plain string

	// is tells whether what lies at a path is of this kind.
	is     func(path string, info iofs.FileInfo) (bool, error)
	open   func(ctx context.Context, path string, o opening) (archive, error)
	verify func(ctx context.Context, path string, o opening, v VerifyOptions) iter.Seq2[Finding, error]
}

// All are all kinds, in the order in which Find tries them. A data center can't be told
// from noise before it is decrypted, so every file is one that is nothing else.
func All() []*Kind {
	return []*Kind{cascKind(), worldKind(), packetsKind(), dataCenterKind()}
}

// Find finds out what a source is; a name says that it is of that kind. The error is an
// [*Error] if it is of none, or can't be looked at.
func Find(path, name string) (*Kind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Unreadable(path, err)
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
	return nil, errorf("%s: not a source that lorefs knows", path)
}
