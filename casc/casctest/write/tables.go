package write

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"

	"lorefs/blte"
	"lorefs/casc/index"
	"lorefs/casc/internal/lookup3"
	"lorefs/casc/keys"
)

func be40(b []byte, v uint64) []byte {
	return append(b, byte(v>>32), byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

// idxEntry writes key:9 place:5 size:4.
func idxEntry(b []byte, e index.IdxEntry) []byte {
	b = append(b, e.Key[:]...)
	b = be40(b, uint64(e.Archive)<<30|uint64(e.Off))
	return binary.LittleEndian.AppendUint32(b, uint32(e.Size))
}

func idxRun(entries []index.IdxEntry) (run []byte) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b index.IdxEntry) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	for _, e := range entries {
		run = idxEntry(run, e)
	}
	return run
}

// Idx writes an index file of version 7, with an update section if there are updates or
// nothing else: CascLib opens no index file without both.
func Idx(bucket int, entries, updates []index.IdxEntry) []byte {
	const section = 0x7800
	b := IdxOfRun(bucket, idxRun(entries))
	if len(entries) > 0 && len(updates) == 0 {
		return append(b, make([]byte, 64)...)
	}
	b = append(b, make([]byte, -len(b)&0xFFF)...)
	if len(updates) == 0 {
		return append(b, make([]byte, section)...)
	}
	for page := range slices.Chunk(updates, 21) {
		from := len(b)
		for _, e := range page {
			u := append(idxEntry(nil, e), e.Status)
			b = binary.LittleEndian.AppendUint32(b, lookup3.Hash(u, 0)|1<<31)
			b = append(append(b, u...), 0)
		}
		b = append(b, make([]byte, 0x200-(len(b)-from))...)
	}
	return append(b, make([]byte, 0x400)...)
}

// IdxOfRun writes an index file of version 7 with entries in the given order.
func IdxOfRun(bucket int, run []byte) []byte {
	b := IdxHead(7, bucket, 4, 5, 9, 30)[:0x20]
	var h, l uint32
	for r := run; len(r) > 0; r = r[18:] {
		h, l = lookup3.Hash2(r[:18], h, l)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(run)))
	b = binary.LittleEndian.AppendUint32(b, h)
	return append(b, run...)
}

// IdxHead writes an index file without entries, of any version and widths.
func IdxHead(version, bucket int, widths ...byte) []byte {
	head := append([]byte{byte(version), 0, byte(bucket), 0}, widths...)
	head = append(head, 0, 0, 0, 0, 0xC0, 0xFF, 0, 0)
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	b = binary.LittleEndian.AppendUint32(b, lookup3.Hash(head, 0))
	return append(append(b, head...), make([]byte, 16)...)
}

// Idx5 writes an index file of version 5.
func Idx5(bucket int, first, second []index.IdxEntry) []byte {
	runs := [][]byte{idxRun(first), idxRun(second)}
	b := make([]byte, 0x30)
	b[0], b[2], b[8] = 5, byte(bucket), 1
	copy(b[0x18:], []byte{4, 5, 9, 30})
	for i, r := range runs {
		binary.LittleEndian.PutUint32(b[0x1C+4*i:], uint32(len(r)/18))
		binary.LittleEndian.PutUint32(b[0x24+4*i:], lookup3.Hash(r, 0))
	}
	binary.LittleEndian.PutUint32(b[0x2C:], lookup3.Hash(b, 0))
	return append(b, bytes.Join(runs, nil)...)
}

// ArchiveIndex writes an index of an archive, with offsets of 0, 4, 5 or 6 bytes.
func ArchiveIndex(entries []index.ArchiveEntry, offsetBytes int) []byte {
	return ArchiveIndexOf(entries, offsetBytes, 8)
}

// ArchiveIndexOf is ArchiveIndex with so many bytes of each hash.
func ArchiveIndexOf(entries []index.ArchiveEntry, offsetBytes, hashBytes int) []byte {
	const page = 4 << 10
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b index.ArchiveEntry) int { return a.Key.Compare(b.Key) })
	var pages, last, sums []byte
	for part := range slices.Chunk(entries, page/(20+offsetBytes)) {
		from := len(pages)
		for _, e := range part {
			pages = archiveEntry(pages, e, offsetBytes)
		}
		pages = append(pages, make([]byte, page-(len(pages)-from))...)
		sum := md5.Sum(pages[from:])
		last, sums = append(last, part[len(part)-1].Key[:]...), append(sums, sum[:hashBytes]...)
	}
	toc := slices.Concat(last, sums)
	foot := []byte{1, 0, 0, page >> 10, byte(offsetBytes), 4, 16, byte(hashBytes)}
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(entries)))
	tocSum, footSum := md5.Sum(toc), md5.Sum(append(slices.Clone(foot), make([]byte, hashBytes)...))
	return slices.Concat(pages, toc, tocSum[:hashBytes], foot, footSum[:hashBytes])
}

func archiveEntry(b []byte, e index.ArchiveEntry, offsetBytes int) []byte {
	b = binary.BigEndian.AppendUint32(append(b, e.Key[:]...), uint32(e.Size))
	switch offsetBytes {
	case 4:
		b = binary.BigEndian.AppendUint32(b, uint32(e.Off))
	case 5:
		b = be40(b, uint64(e.Archive)<<30|uint64(e.Off))
	case 6:
		b = binary.BigEndian.AppendUint16(b, uint16(e.Archive))
		b = binary.BigEndian.AppendUint32(b, uint32(e.Off))
	}
	return b
}

// Encoding writes the encoding file of stored files. Files of the same content are
// one entry.
func Encoding(stored []Stored) []byte {
	specs, numbers := []byte(nil), map[string]uint32{}
	for _, s := range stored {
		if _, ok := numbers[s.Spec]; !ok {
			numbers[s.Spec] = uint32(len(numbers))
			specs = append(append(specs, s.Spec...), 0)
		}
	}
	contents := encodingPages(contentRows(stored), 6)
	encoded := encodingPages(encodedRows(stored, numbers), 0)
	b := []byte{'E', 'N', 1, 16, 16, 0, 4, 0, 4}
	b = binary.BigEndian.AppendUint32(b, uint32(len(contents)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(encoded)))
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(specs)))
	b = append(b, specs...)
	for _, pages := range [][]encodingPage{contents, encoded} {
		for _, p := range pages {
			b = append(append(b, p.first...), p.sum[:]...)
		}
		for _, p := range pages {
			b = append(b, p.data...)
		}
	}
	return append(b, "b:{22=n,*=z}"...)
}

// encodingChunks splits an encoding file as real builds do: the specs are compressed, and
// the other parts are plain.
func encodingChunks(data []byte) (spec string, chunks []blte.Chunk) {
	be := binary.BigEndian
	content, encoded, specs := int(be.Uint32(data[9:])), int(be.Uint32(data[13:])), int(be.Uint32(data[18:]))
	spec = "b:{"
	for i, n := range []int{22, specs, content * 32, content << 12, encoded * 32, encoded << 12, len(data)} {
		mode := byte(blte.ModePlain)
		if i == 1 || n >= len(data) {
			mode, n = blte.ModeZlib, min(n, len(data))
		}
		spec += fmt.Sprintf("%d=%c,", n, mode|0x20)
		chunks = append(chunks, blte.Chunk{Content: data[:n], Mode: mode})
		data = data[n:]
	}
	return spec[:len(spec)-1] + "}", chunks
}

type encodingPage struct {
	first []byte
	sum   [16]byte
	data  []byte
}

// contentRows returns rows count:1 size:5 ckey:16 ekey:16×count.
func contentRows(stored []Stored) (rows [][]byte) {
	byKey := map[keys.Key][]Stored{}
	for _, s := range stored {
		if !slices.ContainsFunc(byKey[s.CKey], func(o Stored) bool { return o.EKey == s.EKey }) {
			byKey[s.CKey] = append(byKey[s.CKey], s)
		}
	}
	for key, all := range byKey {
		row := append(be40([]byte{byte(len(all))}, uint64(all[0].Size)), key[:]...)
		for _, s := range all {
			row = append(row, s.EKey[:]...)
		}
		rows = append(rows, row)
	}
	return rows
}

// encodedRows returns rows ekey:16 spec:4 size:5.
func encodedRows(stored []Stored, specs map[string]uint32) (rows [][]byte) {
	seen := map[keys.Key]bool{}
	for _, s := range stored {
		if seen[s.EKey] {
			continue
		}
		seen[s.EKey] = true
		row := binary.BigEndian.AppendUint32(slices.Clone(s.EKey[:]), specs[s.Spec])
		rows = append(rows, be40(row, uint64(len(s.Encoded))))
	}
	return rows
}

// encodingPages sorts rows by the key at keyOff, and puts them on pages of 4 KiB.
func encodingPages(rows [][]byte, keyOff int) (pages []encodingPage) {
	slices.SortFunc(rows, func(a, b []byte) int { return bytes.Compare(a[keyOff:keyOff+16], b[keyOff:keyOff+16]) })
	for len(rows) > 0 {
		p := encodingPage{first: rows[0][keyOff : keyOff+16]}
		for len(rows) > 0 && len(p.data)+len(rows[0]) <= 4<<10 {
			p.data, rows = append(p.data, rows[0]...), rows[1:]
		}
		p.data = append(p.data, make([]byte, 4<<10-len(p.data))...)
		p.sum = md5.Sum(p.data)
		pages = append(pages, p)
	}
	return pages
}

// Shmem writes a shmem of version 4 in which all index files have a version.
func Shmem(dir string, version uint32) []byte {
	b := make([]byte, 11280)
	binary.LittleEndian.PutUint32(b, 4)
	binary.LittleEndian.PutUint32(b[4:], 0x150)
	copy(b[8:], `Global\`+dir)
	for i := range index.Buckets {
		binary.LittleEndian.PutUint32(b[0x110+4*i:], version)
	}
	b[0x150] = 1
	copy(b[0x150+32:], be40(nil, 500))
	copy(b[0x150+32+5450:], be40(nil, 3<<30|77))
	return b
}
