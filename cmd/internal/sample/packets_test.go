package sample

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// TestSession reads the session by its definitions, and finds nothing wrong in either.
func TestSession(t *testing.T) {
	files, err := packetFiles()
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{}
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.name, definitionsName+"/"); ok {
			folder[name] = &fstest.MapFile{Data: f.data}
		}
	}
	lib, err := protocol.OpenLibrary(folder, protocol.LibraryOptions{Codec: protocol.Options{Strict: true}})
	if err != nil {
		t.Fatal(err)
	}
	data := files[0].data
	again, err := recordSession()
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("not the same bytes twice: %v", err)
	}
	log, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dissect.New(log, lib, dissect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range dissect.VerifyLibrary(t.Context(), lib, s.Patch(), true) {
		t.Errorf("%v, %v", f, err)
	}
	for f, err := range s.Verify(t.Context(), nil) {
		t.Errorf("%v, %v", f, err)
	}
	sum, err := s.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var weather int64
	for _, n := range sum.Names {
		if n.Code == packetCodes["S_WEATHER"] {
			weather = n.Packets
		}
	}
	if len(sum.Names) != len(packetCodes) || sum.Packets != sessionLength || sum.Failed != 0 || sum.Unknown != weather {
		t.Errorf("%d names, %+v", len(sum.Names), sum.Count)
	}
}
