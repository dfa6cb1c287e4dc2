package overwatch

import (
	"encoding/binary"
	"fmt"
	"iter"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/cursor"
)

const cmf format.Name = "content manifest"

const (
	// cmfMagic is the upper or lower 24 bits of the magic: the one if the file is
	// encrypted, the other if not.
	cmfMagic = 0x636D66
	cmfPlain = 0x666D63
	// The builds after which the header has another form.
	cmfBuild122 = 47161
	cmfBuild148 = 68309
	// cmfBuild135 is the build after which assets have one byte more.
	cmfBuild135 = 57230
	cmfEntry    = 20
)

// ContentManifest is a file *.cmf of Overwatch, by description only: a list of assets by
// number. Encrypted manifests match ErrUnsupported, because each build computes their key
// in its own way. It keeps the file's bytes.
//
//	build:4 unknown:(16|20|24) [ patches:4 ] assets:4 (patches|unknown):4 entries:4 magic:4
//	entry ×entries  of 20 bytes, not understood
//	asset ×assets   guid:8 size:4 [ unknown:1 ] ckey:16
//
// The unknown part has 16 bytes before build 47,162 (1.22), 24 with the patches from build
// 68,310 on (1.48). Numbers are little-endian.
type ContentManifest struct {
	Build  int
	assets []byte
	size   int
}

// Asset is a file of a content manifest.
type Asset struct {
	GUID uint64
	Size int64
	CKey keys.Key
}

// ParseContentManifest reads a manifest. It keeps data, which must not be changed.
func ParseContentManifest(data []byte) (*ContentManifest, error) {
	c := cursor.New(data)
	m := &ContentManifest{Build: int(c.LE32()), size: 28}
	switch {
	case m.Build > cmfBuild148:
		c.Bytes(28)
	case m.Build > cmfBuild122:
		c.Bytes(20)
	default:
		c.Bytes(16)
	}
	assets := c.LE32()
	c.LE32()
	entries, magic := c.LE32(), c.LE32()
	if err := cmf.Ends(c, 0); err != nil {
		return nil, err
	}
	if magic>>8 == cmfMagic {
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, cmf.Bad(int64(c.Off())-4, "encrypted, of build %d", m.Build))
	}
	if magic&0xFFFFFF != cmfPlain {
		return nil, cmf.Bad(int64(c.Off())-4, "the magic is %#x", magic)
	}
	if m.Build >= cmfBuild135 {
		m.size++
	}
	if int64(entries)*cmfEntry+int64(assets)*int64(m.size) > int64(c.Left()) {
		return nil, cmf.Bad(int64(c.Off()), "%d entries and %d assets in %d bytes", entries, assets, c.Left())
	}
	c.Bytes(int(entries) * cmfEntry)
	m.assets = c.Bytes(int(assets) * m.size)
	return m, nil
}

// Assets yields all assets in order.
func (m *ContentManifest) Assets() iter.Seq[Asset] {
	return func(yield func(Asset) bool) {
		for b := m.assets; len(b) > 0; b = b[m.size:] {
			a := Asset{GUID: binary.LittleEndian.Uint64(b), Size: int64(binary.LittleEndian.Uint32(b[8:])), CKey: keys.Key(b[m.size-16:])}
			if !yield(a) {
				return
			}
		}
	}
}
