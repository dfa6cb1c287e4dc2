package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lorefs/internal/testneeds"
	"lorefs/protocol/capture"
	"lorefs/protocol/prototest"
)

// largeSession is the number of packets that TestPacketsLarge searches in each form. 100,000
// packets are 200,000 files, and take half a minute.
var largeSession = flag.Int("packets", 2_000, "packets of the session that is searched through a mount")

// sessionForms are all forms of recordings.
var sessionForms = []capture.Format{capture.TeraLog, capture.Hex}

// mountSession mounts a recording with definitions until the end of the test.
func mountSession(t *testing.T, path, definitions string) string {
	t.Helper()
	dir := t.TempDir()
	runTool(t, "", "lorefs", "mount", "--definitions", definitions, "--revision", prototest.Revision, path, dir)
	t.Cleanup(func() {
		if out, err := exec.Command("lorefs", "unmount", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v: %s", err, out)
			detachBelow(filepath.Dir(dir))
		}
	})
	return dir
}

// writeSession writes a recording in a form.
func writeSession(t *testing.T, info capture.Info, packets []capture.Packet) string {
	t.Helper()
	var b bytes.Buffer
	w, err := capture.NewWriter(&b, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packets {
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "session")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeDefinitions writes the definitions for the recordings.
func writeDefinitions(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "definitions")
	if err := os.CopyFS(dir, prototest.Files()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPacketsFormats checks that recordings in all forms are recognized, and that their
// mounts show the same.
func TestPacketsFormats(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	packets, err := prototest.Session(1, 90)
	if err != nil {
		t.Fatal(err)
	}
	definitions := writeDefinitions(t)
	want := map[string]string{} // the JSON of the first form
	for _, format := range sessionForms {
		t.Run(format.String(), func(t *testing.T) {
			path := writeSession(t, capture.Info{Format: format, Revision: prototest.Revision}, packets)
			mnt := mountSession(t, path, definitions)
			got := shownPackets(t, filepath.Join(mnt, "packets"), packets)
			if len(want) == 0 {
				want = got
			}
			for name, text := range want {
				if got[name] != text {
					t.Errorf("%s is %s\nwant %s", name, got[name], text)
				}
			}
			if len(got) != len(packets) || len(want) != len(packets) {
				t.Errorf("%d packets, want %d", len(got), len(packets))
			}
		})
	}
}

// shownPackets checks the bytes and the sizes of all packets. It returns the rest of the
// JSON after the name of each, since not all forms have the direction.
func shownPackets(t *testing.T, dir string, packets []capture.Packet) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]string)
	for i, e := range entries { // the order of names is that of time
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		p := packets[i/2]
		if info.Size() != int64(len(content)) || !info.ModTime().Equal(p.Time) {
			t.Errorf("%s: %d bytes of %v, want %d of %v", e.Name(), info.Size(), info.ModTime(), len(content), p.Time)
		}
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			_, shown[name], _ = strings.Cut(string(content), `"name":`)
			continue
		}
		if !bytes.Equal(content, p.Data) {
			t.Errorf("%s is %x, want %x", e.Name(), content, p.Data)
		}
	}
	return shown
}

// TestPacketsLarge checks that a long recording in any form can be searched through a mount
// with little more memory than for its index.
func TestPacketsLarge(t *testing.T) {
	testneeds.Slow(t, "searches 4,000 files in each form")
	testneeds.FUSE(t)
	ownFolders(t)
	packets, err := prototest.Session(1, *largeSession)
	if err != nil {
		t.Fatal(err)
	}
	definitions := writeDefinitions(t)
	for _, format := range sessionForms {
		t.Run(format.String(), func(t *testing.T) {
			path := writeSession(t, capture.Info{Format: format, Revision: prototest.Revision}, packets)
			searchSession(t, path, definitions, len(packets))
		})
	}
}

// searchSession mounts a recording of n packets and searches it for those of one definition.
func searchSession(t *testing.T, path, definitions string, n int) {
	t.Helper()
	begin := time.Now()
	mnt := mountSession(t, path, definitions)
	mounted := time.Now()
	found := strings.Fields(runTool(t, mnt, "grep", "-rlF", `"definition":"C_PLAYER_LOCATION.5","packet":{`, "packets"))
	t.Logf("mounted in %v, searched in %v", mounted.Sub(begin), time.Since(mounted))
	slices.Sort(found)
	if want := n / 9 * 2; len(found) < want || len(found) > want+2 {
		t.Errorf("%d packets found, want some %d", len(found), want)
	}
	for i, name := range found[:min(len(found), 100)] {
		if want := "packets/" + fmt.Sprintf("%06d", i/2*9+3+i%2*4) + "-C_PLAYER_LOCATION.json"; name != want {
			t.Errorf("found %s, want %s", name, want)
		}
	}
	if sum := runTool(t, mnt, "sh", "-c", "grep -o '\"packets\": *[0-9]*' summary.json | head -n 1"); !strings.Contains(sum, strconv.Itoa(n)) {
		t.Errorf("the summary has %s", sum)
	}
	const most = 130 << 20 // including the 2 MiB cache of packets
	if peak := peakMemory(t, mnt); peak > most {
		t.Errorf("at most %d MiB resident, want %d", peak>>20, most>>20)
	}
}
