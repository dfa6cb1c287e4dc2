package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"lorefs/blte"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// olderVersion and newerVersion are the versions of two builds.
const olderVersion, newerVersion = "1.0.0.41", "1.0.0.42"

// twoBuilds makes one storage for each of two builds with roots made by root, and one with
// both, of which the newer one is active.
func twoBuilds(ts *testscript.TestScript, rooted func(g *casctest.Game, files []root.File)) (old, now, both write.Files) {
	g := casctest.New()
	add := func(name, content string, mode byte) root.File {
		s := g.AddChunks(string(mode+'a'-'A'), blte.WriteOptions{}, blte.Chunk{Content: []byte(content), Mode: mode})
		return root.File{Name: name, CKey: s.CKey, Spans: []root.Span{{EKey: s.EKey, CKey: s.CKey, Size: s.Size, ContentSize: s.Size}}}
	}
	same, gone := add("Texts/same.txt", "same", 'N'), add("Texts/gone.txt", "gone", 'N')
	changed, again := add("Texts/changed.txt", "before", 'N'), add("Texts/again.txt", "again and again and again", 'N')
	add("", "no root has this; the roots are in the next archive", 'N')
	before := []root.File{same, gone, changed, again}
	changed, again = add("texts/Changed.txt", "after", 'N'), add("Texts/again.txt", "again and again and again", 'Z')
	after := []root.File{same, changed, again, add("Texts/100%.txt", "new", 'N')}
	build := func(version string, files []root.File) write.Files {
		one := casctest.New()
		one.Version = version
		one.Stored = slices.Clone(g.Stored)
		rooted(one, files)
		made, err := one.Install()
		ts.Check(err)
		return made
	}
	old, now = build(olderVersion, before), build(newerVersion, after)

	// Both roots have to be in the archives of both builds.
	rooted(g, before)
	config := g.Config
	g.Config = nil
	rooted(g, after)
	latest := g.Config
	ofBoth := func(version string, config []string) write.Files {
		one := casctest.New()
		one.Version = version
		one.Stored, one.Config = slices.Clone(g.Stored), slices.Clone(config)
		made, err := one.Install()
		ts.Check(err)
		return made
	}
	both = ofBoth(olderVersion, config)
	maps.Copy(both, ofBoth(newerVersion, latest))
	return old, now, both
}

// cmdBuilds runs "builds DIR". It writes to DIR the storages old, new and both, and the same
// with -tvfs, whose roots have no content keys. $OLD and $NEW are the keys of the builds.
func cmdBuilds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: builds DIR")
	}
	for suffix, root := range map[string]func(*casctest.Game, []root.File){
		"": func(g *casctest.Game, files []root.File) { g.Root(g.Add(write.TextRoot(files))) },
		"-tvfs": func(g *casctest.Game, files []root.File) {
			for i := range files {
				files[i].Spans[0].CKey = keys.Key{}
			}
			g.Ref("vfs-root", g.Add(write.TVFSOf(0, files)))
		},
	} {
		old, now, both := twoBuilds(ts, root)
		for name, files := range map[string]write.Files{"old": old, "new": now, "both": both} {
			ts.Check(files.Write(filepath.Join(ts.MkAbs(args[0]), name+suffix)))
		}
		if suffix != "" {
			continue
		}
		active := regexp.MustCompile(`\|1\|(\w{32})\|`).FindSubmatch(both[".build.info"])[1]
		ts.Setenv("NEW", string(active))
		for name, data := range both {
			key := filepath.Base(name)
			if len(key) == 32 && key != string(active) && regexp.MustCompile("encoding").Match(data) {
				ts.Setenv("OLD", key)
			}
		}
	}
}
