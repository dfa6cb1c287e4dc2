package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/internal/testneeds"
)

// seamsTimeVar sets how long each test of readers beside writers takes, such as 10m.
const seamsTimeVar = "LOREFS_SEAMS_TIME"

// counter is a value of a source that one writer counts up.
type counter struct {
	name string
	// write writes a value, and returns when it is acknowledged.
	write func(n int64) error
	// begun is the last value whose write has begun, done the last that is acknowledged.
	begun, done atomic.Int64
	// files show the value.
	files []shownIn
}

// shownIn is a file in which a counter is shown.
type shownIn struct {
	path string
	// find has the value as its submatch; the file lacks the value of a counter that was never
	// written.
	find *regexp.Regexp
	// whole returns what is wrong with a text that is cut or mixed.
	whole func([]byte) error
	// inPlace says that the writer writes this file itself, so that others see it half written.
	inPlace bool
}

// seams is a mount whose files are read and comings while others edit it through each of its
// views. Each answer has to have what was acknowledged before the question, and each size has to
// be that of the content.
type seams struct {
	t        *testing.T
	mnt      string
	process  *command
	counters []*counter
	// lists are directories in which a writer makes and removes entries.
	lists                 []*comings
	reads, quiet, lookups atomic.Int64
	end                   time.Time
	failures              atomic.Int64
}

// comings is a directory in which entries come and go: one writer makes the entry of each number,
// and removes the one before.
type comings struct {
	dir string
	// name has the name of the entry of a number, as the directory shows it.
	name func(n int64) string
	of   *counter
}

func (s *seams) fail(format string, args ...any) {
	if s.failures.Add(1) < 20 {
		s.t.Errorf(format, args...)
	}
}

func (s *seams) over() bool { return time.Now().After(s.end) || s.failures.Load() >= 20 }

// long returns how long a test takes.
func (s *seams) long() time.Duration {
	s.t.Helper()
	text := os.Getenv(seamsTimeVar)
	if text == "" {
		return []time.Duration{2 * time.Second, 8 * time.Second, 10 * time.Minute}[testneeds.Cases(0, 1, 2)]
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// run lets writers and readers work for some time. save is called again and again meanwhile.
func (s *seams) run(save func() error) {
	s.t.Helper()
	d := s.long()
	s.end = time.Now().Add(d)
	// A program that reads a file while it is changed for the first time may get a mix.
	for _, c := range s.counters {
		c.begun.Store(1)
		if err := c.write(1); err != nil {
			s.t.Fatalf("%s: %v", c.name, err)
		}
		c.done.Store(1)
	}
	var all sync.WaitGroup
	for i, c := range s.counters {
		all.Go(func() { s.write(c, rand.New(rand.NewPCG(uint64(i), 1))) })
	}
	const readers = 4
	for i := range readers {
		all.Go(func() { s.read(rand.New(rand.NewPCG(uint64(i), 0))) })
	}
	all.Go(func() {
		for i := 1; !s.over(); i++ {
			if i%10 == 0 {
				if err := save(); err != nil {
					s.fail("save: %v", err)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	all.Wait()
	if s.t.Failed() {
		status, _ := execLorefs("status", s.mnt)
		s.t.Log(status)
	}
	edits := int64(0)
	for _, c := range s.counters {
		edits += c.done.Load()
		if c.done.Load() == 1 {
			s.t.Errorf("%s: it was written only once", c.name)
		}
		for _, f := range c.files {
			s.check(c, f)
		}
	}
	s.t.Logf("%d edits, %d reads (%d while nothing was written), %d look-ups and listings in %v", edits, s.reads.Load(), s.quiet.Load(), s.lookups.Load(), d)
}

func (s *seams) write(c *counter, r *rand.Rand) {
	for n := int64(2); !s.over(); n++ {
		c.begun.Store(n)
		if err := c.write(n); err != nil {
			s.fail("%s: write %d: %v", c.name, n, err)
			return
		}
		c.done.Store(n)
		// Who has written looks at once, and then goes on after a while.
		for _, f := range c.files {
			s.check(c, f)
		}
		for _, l := range s.lists {
			if l.of == c {
				s.look(l)
			}
		}
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
	}
}

func (s *seams) read(r *rand.Rand) {
	for !s.over() {
		c := s.counters[r.IntN(len(s.counters))]
		if len(c.files) > 0 {
			s.check(c, c.files[r.IntN(len(c.files))])
		}
		if len(s.lists) > 0 {
			s.look(s.lists[r.IntN(len(s.lists))])
		}
	}
}

// check reads a file in which a counter is shown.
func (s *seams) check(c *counter, f shownIn) {
	least, begun := c.done.Load(), c.begun.Load()
	size, text, err := readWhole(filepath.Join(s.mnt, f.path))
	most := c.begun.Load()
	quiet := begun == least && most == least
	s.reads.Add(1)
	if quiet {
		s.quiet.Add(1)
	}
	switch {
	case f.inPlace && !quiet:
	case errors.Is(err, os.ErrNotExist) && least == 0:
	case err != nil:
		s.fail("%s: %v", f.path, err)
	case quiet && size != int64(len(text)):
		s.fail("%s: %d bytes, and the size is %d", f.path, len(text), size)
	default:
		if err := f.value(c, text, least, most); err != nil {
			s.fail("%s (of %d bytes, size %d, quiet: %v): %v", f.path, len(text), size, quiet, err)
		}
	}
}

// value returns what is wrong with the text of a file.
func (f *shownIn) value(c *counter, text []byte, least, most int64) error {
	if err := f.whole(text); err != nil || least == 0 {
		return err
	}
	found := f.find.FindSubmatch(text)
	if found == nil {
		return fmt.Errorf("it lacks the value %d of %s", least, c.name)
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%s is %s, and it is at least %d and at most %d", c.name, found[1], least, most)
	}
	return nil
}

// readWhole reads a file as cat does, and returns the size that it had when it was opened.
func readWhole(path string) (size int64, text []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, nil, err
	}
	buf := make([]byte, 128<<10)
	for {
		n, err := f.Read(buf)
		text = append(text, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return info.Size(), text, nil
		}
		if err != nil {
			return 0, nil, err
		}
	}
}

// look lists a directory, and looks up an entry that has to be there and one that must not.
func (s *seams) look(l *comings) {
	n := l.of.done.Load()
	if n < 2 {
		return
	}
	dir := filepath.Join(s.mnt, l.dir)
	entries, err := os.ReadDir(dir)
	_, isThere := os.Lstat(filepath.Join(dir, l.name(n)))
	_, isGone := os.Lstat(filepath.Join(dir, l.name(n-2)))
	if l.of.begun.Load() != n && l.of.begun.Load() != n+1 { // n is removed while n+2 is made
		return
	}
	s.lookups.Add(1)
	if err != nil {
		s.fail("%s: %v", l.dir, err)
		return
	}
	has := func(n int64) bool {
		return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == l.name(n) })
	}
	if !has(n) || isThere != nil {
		s.fail("%s: %s is not there: listed %v, looked up: %v", l.dir, l.name(n), has(n), isThere)
	}
	if n > 2 && (has(n-2) || isGone == nil) {
		s.fail("%s: %s is still there: listed %v, looked up: %v", l.dir, l.name(n-2), has(n-2), isGone)
	}
}

// Ways of programs to write.

func inPlace(path string, text []byte) error { return os.WriteFile(path, text, 0o600) }

func byRename(path string, text []byte) error {
	temp := filepath.Join(filepath.Dir(path), ".temp-"+filepath.Base(path))
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// writeEither writes a file in one of two ways.
func writeEither(n int64, path string, text []byte) error { return either(n)(path, text) }

func either(n int64) func(path string, text []byte) error {
	if n%2 == 0 {
		return inPlace
	}
	return byRename
}

// replaceValue writes a file with another value in the place of what find finds.
func replaceValue(n int64, path string, find *regexp.Regexp, write func(string, []byte) error) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := find.FindSubmatchIndex(text)
	if at == nil {
		return fmt.Errorf("%s lacks %v", path, find)
	}
	return write(path, slices.Concat(text[:at[2]], strconv.AppendInt(nil, n, 10), text[at[3]:]))
}

func wholeXML(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("no XML: %w: …%q", err, text[max(0, len(text)-60):])
		}
	}
}

func wholeJSON(text []byte) error {
	if !json.Valid(text) {
		return fmt.Errorf("no JSON: …%q", text[max(0, len(text)-60):])
	}
	return nil
}

func wholeLine(text []byte) error {
	if !bytes.HasSuffix(text, []byte("\n")) || bytes.IndexByte(text, 0) >= 0 {
		return fmt.Errorf("no line: %q", text)
	}
	return nil
}

var oneNumber = regexp.MustCompile(`^(\d+)\n$`)

// mountSeams mounts a source in another process.
func mountSeams(t *testing.T, source string, flags ...string) *seams {
	t.Helper()
	testneeds.FUSE(t)
	testneeds.Slow(t, "reads for some time while others write")
	c := newCrash(t, source)
	c.crashed = flagsOnly(flags)
	return &seams{t: t, mnt: c.mnt, process: c.mount()}
}

// unmount ends the mount. Its process fails if it found a race.
func (s *seams) unmount() {
	if out, err := execLorefs("unmount", "--discard", s.mnt); err != nil {
		s.t.Errorf("unmount: %v: %s", err, out)
	}
	if err := s.process.wait(); err != nil {
		s.t.Errorf("the process of the mount: %v: %s", err, s.process.output.String())
	}
}

// flagsOnly is a crashed source that is not killed.
type flagsOnly []string

func (f flagsOnly) flags() []string         { return f }
func (flagsOnly) names() []string           { return nil }
func (flagsOnly) value(string) string       { return "" }
func (flagsOnly) values() map[string]string { return nil }
func (flagsOnly) unchanged()                {}

// execLorefs runs a command, also at the end of a test.
func execLorefs(args ...string) (string, error) {
	out, err := exec.CommandContext(context.Background(), "lorefs", args...).CombinedOutput()
	return string(out), err
}

func (s *seams) commit() error {
	if out, err := execLorefs("commit", s.mnt); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// TestSeamsOfDataCenter edits a data center through tree/ and sheets/, and reads it through these
// and through by-key/.
func TestSeamsOfDataCenter(t *testing.T) {
	s := mountSeams(t, "DataCenter_Final_Sample.dat")
	defer s.unmount()
	at := func(path string) string { return filepath.Join(s.mnt, path) }
	sheet := func(n int) string { return fmt.Sprintf("sheets/ItemData/ItemData-%05d.xml", n) }

	// A value that is written by tree/, and one that is written by sheets/.
	price := regexp.MustCompile(`<Item id="1100"[^>]* price="(\d+)"`)
	s.counters = append(s.counters, &counter{
		name: "price by tree",
		write: func(n int64) error {
			return writeEither(n, at("tree/ItemData.1/Item/price"), fmt.Appendf(nil, "%d\n", n))
		},
		files: []shownIn{
			{path: "tree/ItemData.1/Item/price", find: oneNumber, whole: wholeLine, inPlace: true},
			{path: "by-key/ItemData/Item/1100/price", find: oneNumber, whole: wholeLine, inPlace: true},
			{path: sheet(1), find: price, whole: wholeXML},
		},
	})
	price2 := regexp.MustCompile(`<Item id="1200"[^>]* price="(\d+)"`)
	s.counters = append(s.counters, &counter{
		name:  "price by sheet",
		write: func(n int64) error { return replaceValue(n, at(sheet(2)), price2, either(n)) },
		files: []shownIn{
			{path: "tree/ItemData.2/Item/price", find: oneNumber, whole: wholeLine},
			{path: "by-key/ItemData/Item/1200/price", find: oneNumber, whole: wholeLine},
			{path: sheet(2), find: price2, whole: wholeXML, inPlace: true},
		},
	})

	// Nodes that are made and removed by tree/.
	made := func(n int64) string { return at(fmt.Sprintf("tree/ItemData.3/Item.%d", 10_000+n)) }
	nodes := &counter{
		name: "nodes by tree",
		write: func(n int64) error {
			if err := os.Mkdir(made(n), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(made(n)+"/id", fmt.Appendf(nil, "%d\n", 5000_000+n), 0o600); err != nil || n <= 2 {
				return err
			}
			return errors.Join(os.Remove(made(n-2)+"/id"), os.Remove(made(n-2)))
		},
		files: []shownIn{{path: sheet(3), find: regexp.MustCompile(`(?s).*<Item id="5(\d+)"`), whole: wholeXML}},
	}
	s.counters = append(s.counters, nodes)
	s.lists = append(
		s.lists,
		&comings{"tree/ItemData.3", func(n int64) string { return fmt.Sprintf("Item.%d", 10_000+n) }, nodes},
		&comings{"by-key/ItemData/Item", func(n int64) string { return strconv.FormatInt(5000_000+n, 10) }, nodes},
	)

	// Sheets that are made and removed by tree/.
	quest := func(n int64) string { return at(fmt.Sprintf("tree/Quest.%d", 100+n)) }
	sheets := &counter{
		name: "sheets by tree",
		write: func(n int64) error {
			if err := os.Mkdir(quest(n), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(quest(n)+"/id", fmt.Appendf(nil, "%d\n", n), 0o600); err != nil || n <= 2 {
				return err
			}
			return errors.Join(os.Remove(quest(n-2)+"/id"), os.Remove(quest(n-2)))
		},
	}
	s.counters = append(s.counters, sheets)
	s.lists = append(
		s.lists,
		&comings{"tree", func(n int64) string { return fmt.Sprintf("Quest.%d", 100+n) }, sheets},
		&comings{"sheets/Quest", func(n int64) string { return fmt.Sprintf("Quest-%05d.xml", 100+n) }, sheets},
	)

	// Sheets that are made and removed by sheets/.
	weather := func(n int64) string { return at(fmt.Sprintf("sheets/Weather/Weather-%05d.xml", 100+n)) }
	text, err := os.ReadFile(at("sheets/Weather/Weather-00000.xml"))
	if err != nil {
		t.Fatal(err)
	}
	copies := &counter{
		name: "sheets by sheets",
		write: func(n int64) error {
			if err := writeEither(n, weather(n), text); err != nil || n <= 2 {
				return err
			}
			return os.Remove(weather(n - 2))
		},
	}
	s.counters = append(s.counters, copies)
	s.lists = append(
		s.lists,
		&comings{"tree", func(n int64) string { return fmt.Sprintf("Weather.%d", 100+n) }, copies},
		&comings{"sheets/Weather", func(n int64) string { return fmt.Sprintf("Weather-%05d.xml", 100+n) }, copies},
	)
	s.run(s.commit)
}

// TestSeamsOfWorld edits squares, a zone and an area, and reads them in all forms.
func TestSeamsOfWorld(t *testing.T) {
	s := mountSeams(t, "world", "--quality", "1")
	defer s.unmount()
	at := func(path string) string { return filepath.Join(s.mnt, path) }
	// The height of a floor, in the third square of two zones.
	inSquare := regexp.MustCompile(`"volumes":\[\[-?\d+,(\d+)\]\]`)
	inZone := regexp.MustCompile(`"squares":\[\n.*\n.*\n.*?\[\[-?\d+,(\d+)\]\]`)
	square := func(zone string) string { return squareName(zone, 2) }
	s.counters = append(s.counters, &counter{
		name:  "height by square",
		write: func(n int64) error { return replaceValue(n, at(square("x1000y1000")), inSquare, either(n)) },
		files: []shownIn{
			{path: square("x1000y1000"), find: inSquare, whole: wholeJSON, inPlace: true},
			{path: "zones/x1000y1000.json", find: inZone, whole: wholeJSON},
		},
	}, &counter{
		name: "height by zone",
		// While another program is started, it has a copy of the open file. When that is closed, half
		// a zone would be refused.
		write: func(n int64) error { return replaceValue(n, at("zones/x1000y1001.json"), inZone, byRename) },
		files: []shownIn{
			{path: square("x1000y1001"), find: inSquare, whole: wholeJSON},
			{path: "zones/x1000y1001.json", find: inZone, whole: wholeJSON},
		},
	}, &counter{
		name: "node by area",
		write: func(n int64) error {
			return replaceValue(n, at("areas/aldermoor.json"), regexp.MustCompile(`"at":\[8,8,(\d+)\]`), either(n))
		},
		files: []shownIn{
			{path: "areas/aldermoor.json", find: regexp.MustCompile(`"at":\[8,8,(\d+)\]`), whole: wholeJSON, inPlace: true},
			{path: "areas/aldermoor.geojson", find: regexp.MustCompile(`"coordinates":\[8,8,(\d+)\]`), whole: wholeJSON},
		},
	})
	s.run(s.commit)
}

// wholeLines returns an error unless all lines of a text are the same.
func wholeLines(text []byte) error {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if want := bytes.Repeat(append(first, '\n'), len(text)/(len(first)+1)); !bytes.Equal(text, want) {
		return fmt.Errorf("its lines differ: %q…%q", first, text[max(0, len(text)-60):])
	}
	return nil
}

// TestSeamsOfResources edits the files of a container.
func TestSeamsOfResources(t *testing.T) {
	testneeds.FUSE(t)
	testneeds.Slow(t, "reads for some time while others write")
	c := newCrashedResources(t)
	c.crashed = c
	s := &seams{t: t, mnt: c.mnt, process: c.mount()}
	defer s.unmount()
	at := func(name string) string { return filepath.Join(s.mnt, name) }
	lines := func(n int64) []byte { return bytes.Repeat(fmt.Appendf(nil, "%d\n", n), 50_000) }
	firstLine := regexp.MustCompile(`^(\d+)\n`)
	s.counters = append(s.counters, &counter{
		name:  "a small file",
		write: func(n int64) error { return writeEither(n, at("a.txt"), fmt.Appendf(nil, "%d\n", n)) },
		files: []shownIn{{path: "a.txt", find: oneNumber, whole: wholeLine, inPlace: true}},
	}, &counter{
		name:  "a large file",
		write: func(n int64) error { return byRename(at("b.txt"), lines(n)) },
		files: []shownIn{{path: "b.txt", find: firstLine, whole: wholeLines}},
	}, &counter{
		name:  "a large file in place",
		write: func(n int64) error { return inPlace(at("c.txt"), lines(n)) },
		files: []shownIn{{path: "c.txt", find: firstLine, whole: wholeLines, inPlace: true}},
	})
	made := &counter{
		name: "files",
		write: func(n int64) error {
			if err := writeEither(n, at(fmt.Sprint("made", n)), []byte("x")); err != nil || n <= 2 {
				return err
			}
			return os.Remove(at(fmt.Sprint("made", n-2)))
		},
	}
	s.counters = append(s.counters, made)
	s.lists = append(s.lists, &comings{"", func(n int64) string { return fmt.Sprint("made", n) }, made})
	s.run(s.commit)
}

// TestSeamsOfRecording reads a recorded session while it grows.
func TestSeamsOfRecording(t *testing.T) {
	testneeds.FUSE(t)
	testneeds.Slow(t, "reads for some time while others write")
	c := newCrash(t, "session.TeraLog")
	whole, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(c.path, int64(len(whole)/8)); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "lorefs", "mount", "-f", c.path, c.mnt)
	await(t.Fatalf, "the mount", func() bool {
		_, err := os.Lstat(filepath.Join(c.mnt, "packets.jsonl"))
		return err == nil || p.hasEnded()
	})
	s := &seams{t: t, mnt: c.mnt, process: p}
	defer s.unmount()
	session, err := os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	s.end = time.Now().Add(s.long())
	var all sync.WaitGroup
	all.Go(func() {
		step := len(whole) / 200
		for at := len(whole) / 8; !s.over(); at += step {
			if at+step <= len(whole) {
				if _, err := session.Write(whole[at : at+step]); err != nil {
					s.fail("%v", err)
				}
			}
			time.Sleep(s.long() / 200)
		}
	})
	for range 4 {
		all.Go(func() {
			for seen := 0; !s.over(); {
				seen = s.growing(filepath.Join(c.mnt, "packets.jsonl"), seen)
			}
		})
	}
	all.Wait()
	t.Logf("%d reads", s.reads.Load())
}

// growing reads a file of lines that only grows, and returns how many lines there are.
func (s *seams) growing(path string, least int) (lines int) {
	size, text, err := readWhole(path)
	s.reads.Add(1)
	lines = bytes.Count(text, []byte("\n"))
	switch {
	case err != nil:
		s.fail("%v", err)
	case lines < least:
		s.fail("%d lines, and there were %d", lines, least)
	case int64(len(text)) < size:
		s.fail("%d bytes, and the size was %d", len(text), size)
	case !bytes.HasSuffix(text, []byte("\n")) || bytes.IndexByte(text, 0) >= 0:
		s.fail("it ends in %q", text[max(0, len(text)-60):])
	}
	return lines
}
