package casc_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// TestRemoteRows reads files of an archive in rows: the gap between two of them is fetched if it is
// small, and not if it is large. Files with several names are fetched once.
func TestRemoteRows(t *testing.T) {
	var b write.Builder
	var files []root.File
	var wanted [][]byte
	var contents [][]byte
	add := func(size int, want bool) {
		content := bltetest.Noise(size, uint64(len(files)+1))
		s := b.Add(content)
		files = append(files, root.File{Name: strings.Repeat("f", len(files)+1), CKey: s.CKey})
		if want {
			wanted, contents = append(wanted, s.EKey[:keys.ShortSize]), append(contents, content)
		}
	}
	add(1000, true)
	add(50_000, false)
	add(1000, true)
	add(100_000, false)
	add(1000, true)
	add(1000, true)
	b.Root(b.Add(write.TextRoot(files)))
	cdn, err := b.CDN(1)
	if err != nil {
		t.Fatal(err)
	}
	m := &memoryRemote{cdn: cdn}
	st := openRemote(t, m, casc.RemoteOptions{WholeFiles: true})
	slices.Reverse(wanted)
	slices.Reverse(contents)
	wanted = append(wanted, make([]byte, keys.ShortSize), nil, wanted[0], wanted[3])
	contents = append(contents, nil, nil, contents[0], contents[3])
	rows, err := st.Rows(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int{{4}, {5}, {3, 7, 2}, {1, 0, 6}}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Fatalf("rows %v, want %v", rows, want)
	}
	m.reset()
	for _, row := range rows[2:] {
		for _, i := range row {
			c, err := st.OpenEncoded(t.Context(), wanted[i])
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.ReadAll(t.Context(), 1<<20); err != nil || !bytes.Equal(got, contents[i]) {
				t.Errorf("file %d: %d bytes, %v", i, len(got), err)
			}
		}
	}
	if asked := m.requests(); len(asked) != 2 || m.bytes > 60_000 {
		t.Errorf("%d bytes: %v", m.bytes, asked)
	}
}

// TestRemoteVerify counts what a check of a build with many small files asks for. The wrong ones are
// found among those that come with them.
func TestRemoteVerify(t *testing.T) {
	const n = 5000
	_, cdn, err := casctest.NewLargeCDN(n, 3)
	if err != nil {
		t.Fatal(err)
	}
	m := &memoryRemote{cdn: cdn}
	check := func() (found []casc.Finding) {
		t.Helper()
		m.reset()
		for f, err := range openRemote(t, m, casc.RemoteOptions{}).Verify(t.Context(), casc.VerifyOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, f)
		}
		return found
	}
	found := check()
	if asked := m.requests(); len(found) > 0 || len(asked) > n/100 {
		t.Errorf("%d requests for %d files; %v", len(asked), n, found)
	}
	archive := cdn.Files[config.Path("data", cdn.Archives[1])]
	archive[len(archive)/2] ^= 1
	found = check()
	if asked := m.requests(); len(found) != 2 || found[1].File == "" || len(asked) > n/50 {
		t.Errorf("one byte is wrong: %d requests; %v", len(asked), found)
	}
}
