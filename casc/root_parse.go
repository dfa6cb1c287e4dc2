package casc

import (
	"encoding/binary"
	"fmt"

	"lorefs/casc/internal/root/diablo3"
	"lorefs/casc/internal/root/mndx"
	"lorefs/casc/internal/root/overwatch"
	"lorefs/casc/internal/root/text"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/internal/root/wow"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

// ParseRoot reads a root file and recognizes its form by its first bytes. load reads the
// other files of a root that has several. Roots keep data, which must not be changed.
func ParseRoot(data []byte, load root.Loader) (root.Root, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("casc: root: %d bytes", len(data))
	}
	switch binary.LittleEndian.Uint32(data) {
	case wow.Magic:
		return rootOf(wow.Parse(data))
	case tvfs.Magic:
		return rootOf(tvfs.Parse(data, load))
	case mndx.Magic:
		return rootOf(mndx.Parse(data))
	case diablo3.Magic:
		return rootOf(diablo3.Parse(data, load))
	}
	switch {
	case data[0] == '#':
		return rootOf(overwatch.Parse(data, load))
	case text.Is(data):
		return rootOf(text.Parse(data))
	case string(data[:2]) == "IN":
		m, err := manifests.ParseInstall(data)
		if err != nil {
			return nil, err
		}
		return m.Root(), nil
	}
	return rootOf(wow.Parse(data))
}

// rootOf returns the root, or nil with an error: a parser's nil pointer would be a Root
// that is not nil.
func rootOf[R root.Root](r R, err error) (root.Root, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
