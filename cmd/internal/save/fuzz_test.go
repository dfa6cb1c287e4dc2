package save

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"
)

// FuzzRecords checks that records with any content are read or refused. Those that are read name
// only files in the folder, and edits that are written as they were read.
func FuzzRecords(f *testing.F) {
	id := Identity{Size: 2, SHA256: "ab"}
	join := func(records ...[]byte) (all []byte) {
		for _, r := range records {
			all = append(binary.LittleEndian.AppendUint16(all, uint16(len(r))), r...)
		}
		return all
	}
	file, edit := aboutFile(recordFile, "a", id), Folders.editRecord(recordEdit, "a", []byte("record"))
	f.Add(join(file, edit, aboutFile(recordSaving, "a", id), edit, aboutFile(recordDone, "a", id), edit))
	f.Add(join(file, aboutFile(recordFile, "ö", id), edit, edit, Folders.editRecord(recordEdit, "ö", []byte{0}), file))
	f.Add(join(aboutFile(recordFile, "../a", id), Folders.editRecord(recordEdit, "../a", []byte{1})))
	f.Add(join(aboutFile(recordFile, `a\b`, id), aboutFile(recordFile, "/a", id)))
	f.Add(join(edit, aboutFile(recordDone, "a", id), aboutFile('X', "a", id)))
	f.Add(join(file, []byte("E"), []byte("E\x09\x00a"), []byte("F{"), []byte(`F{"file":7}`), []byte("S")))
	f.Add(join(file, edit, Folders.countRecord("a", math.MaxInt64), aboutFile(recordFile, "b", id), Folders.countRecord("b", math.MaxInt64)))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := summary{kind: Folders, files: map[string]*fileState{}}
		taken, counted := 0, false
		for place := 0; len(data) >= 2; place++ {
			n := min(int(binary.LittleEndian.Uint16(data)), len(data)-2)
			record := data[2 : 2+n]
			data = data[2+n:]
			if len(record) == 0 || d.add(place, record) != nil {
				continue // a journal can't have such records
			}
			counted = counted || record[0] == recordCount // which may say any number
			if record[0] != recordEdit {
				continue
			}
			taken++
			name, edit, err := Folders.parseEdit(record)
			if err != nil || d.files[name] == nil || d.files[name].edits < 1 {
				t.Fatalf("took an edit of %q: %v", name, err)
			}
			if !bytes.Equal(Folders.editRecord(recordEdit, name, edit), record) {
				t.Errorf("%q is written as something else", record)
			}
		}
		if n := d.edits(); n < 0 || n > taken && !counted {
			t.Errorf("%d edits of %d records", d.edits(), taken)
		}
		for name, state := range d.files {
			if filepath.Base(name) != name || !filepath.IsLocal(name) {
				t.Errorf("a file called %q", name)
			}
			if state.edits < 0 || state.first < 0 {
				t.Errorf("%q: %+v", name, *state)
			}
		}
	})
}
