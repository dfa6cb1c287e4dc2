package write

import (
	"encoding/binary"
	"slices"

	"lorefs/casc/keys"
	"lorefs/casc/manifests"
)

// Tag is a tag of a manifest with the numbers of its entries.
type Tag struct {
	Name    string
	Type    manifests.TagType
	Entries []int
}

func appendTags(b []byte, tags []Tag, entries int) []byte {
	for _, t := range tags {
		b = append(append(b, t.Name...), 0)
		b = binary.BigEndian.AppendUint16(b, uint16(t.Type))
		bits := make([]byte, (entries+7)/8)
		for _, i := range t.Entries {
			bits[i/8] |= 0x80 >> (i % 8)
		}
		b = append(b, bits...)
	}
	return b
}

// Install writes an install manifest of version 1 or 2.
func Install(version int, entries []manifests.InstallEntry, tags ...Tag) []byte {
	b := []byte{'I', 'N', byte(version), 16}
	b = binary.BigEndian.AppendUint16(b, uint16(len(tags)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	if version == 2 {
		b = append(b, make([]byte, 6)...)
	}
	b = appendTags(b, tags, len(entries))
	for _, e := range entries {
		b = append(append(b, e.Name...), 0)
		b = binary.BigEndian.AppendUint32(append(b, e.CKey[:]...), uint32(e.Size))
	}
	return b
}

// Download writes a download manifest of version 1 to 3, with checksums, two bytes
// of flags from version 2 on, and a base priority of 3 in version 3.
func Download(version int, entries []manifests.DownloadEntry, tags ...Tag) []byte {
	b := []byte{'D', 'L', byte(version), 16, 1}
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(tags)))
	base := 0
	if version >= 2 {
		b = append(b, 2)
	}
	if version >= 3 {
		base = 3
		b = append(b, byte(base), 0, 0, 0)
	}
	for _, e := range entries {
		b = append(be40(append(b, e.EKey[:]...), uint64(e.Size)), byte(e.Priority+base))
		b = binary.BigEndian.AppendUint32(b, e.Checksum)
		if version >= 2 {
			b = append(b, e.Flags...)
		}
	}
	return appendTags(b, tags, len(entries))
}

// SizeManifest writes a size manifest of version 1 or 2 with keys of 9 bytes.
func SizeManifest(version int, entries []manifests.SizeEntry, tags ...Tag) []byte {
	total := uint64(0)
	for _, e := range entries {
		total += uint64(e.Size)
	}
	b := binary.BigEndian.AppendUint32([]byte{'D', 'S', byte(version), keys.ShortSize}, uint32(len(entries)))
	b = be40(binary.BigEndian.AppendUint16(b, uint16(len(tags))), total)
	b = appendTags(b, tags, len(entries))
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(append(b, e.EKey...), uint32(e.Size))
	}
	return b
}

// Patch writes a patch manifest with two files in each block, and returns its key.
func Patch(files []manifests.PatchFile) ([]byte, keys.Key) {
	var blocks [][]byte
	var last []keys.Key
	for part := range slices.Chunk(files, 2) {
		var b []byte
		for _, f := range part {
			b = append(append(b, byte(len(f.Patches))), f.CKey[:]...)
			b = be40(b, uint64(f.Size))
			for _, s := range f.Patches {
				b = be40(append(b, s.From[:]...), uint64(s.FromSize))
				b = binary.BigEndian.AppendUint32(append(b, s.EKey[:]...), uint32(s.Size))
				b = append(b, s.Index)
			}
		}
		blocks, last = append(blocks, append(b, 0)), append(last, part[len(part)-1].CKey)
	}
	b := []byte{'P', 'A', 2, 16, 16, 16, 16, 0, byte(len(blocks)), 0}
	off := len(b) + 36*len(blocks)
	for i, block := range blocks {
		sum := Key(block)
		b = append(append(b, last[i][:]...), sum[:]...)
		b = binary.BigEndian.AppendUint32(b, uint32(off))
		off += len(block)
	}
	key := Key(b)
	return append(b, slices.Concat(blocks...)...), key
}
