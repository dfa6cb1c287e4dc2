package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/andybalholm/brotli"

	"lorefs/geometry"
	"lorefs/internal/kinds"
	"lorefs/nodes"
	"lorefs/nodes/worldtree"
)

// maxBenchGeometry is how many zones, and how many areas, are decoded by themselves.
const maxBenchGeometry = 50

// worldTexts are the directories that are listed and read.
var worldTexts = []string{"zones", "areas"}

// benchWorld measures how fast zones and areas are decoded, their sizes are told, and
// their JSON is read.
func benchWorld(ctx context.Context, b *benchRun) error {
	for _, step := range []func(context.Context) error{b.worldListing, b.worldDecoding, b.worldReading} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// worldListing measures how long it takes to tell the sizes of all JSON.
func (b *benchRun) worldListing(ctx context.Context) error {
	first, second, err := b.openings(ctx, func(s *kinds.Source) error {
		_, err := listTexts(ctx, s, b.flags.entries)
		return err
	}, nothing)
	if err != nil {
		return err
	}
	table := "sizes of all in " + strings.Join(worldTexts, " and ")
	b.add(table, "first", unitSeconds, first)
	b.add(table, "once they are remembered", unitSeconds, second)
	b.relate("first")
	return nil
}

// worldText is a file of JSON.
type worldText struct {
	path string
	nodes.Entry
}

// listTexts gives the files that are to be read.
func listTexts(ctx context.Context, s *kinds.Source, most int64) ([]worldText, error) {
	var texts []worldText
	sum := int64(0)
	for _, dir := range worldTexts {
		err := list(ctx, s, dir, true, func(e nodes.Entry) error {
			if sum+e.Size <= maxBenchBytes && int64(len(texts)) < most {
				texts = append(texts, worldText{dir + "/" + e.Name, e})
				sum += e.Size
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// geometrySample is a zone or an area that is being measured.
type geometrySample struct {
	area bool
	file []byte
	// raw has room for what the file decompresses to.
	raw []byte
	// text is its JSON, of size bytes.
	text geometry.Text
	size int64

	brotli *brotli.Reader
}

// geometryRows are what is done with each file, in megabytes of what it decompresses
// to, or of its JSON.
var geometryRows = [4]struct {
	what, of string
	do       func(s *geometrySample, ctx context.Context) error
	bytes    func(s *geometrySample) int64
}{
	{"decompressed, Brotli alone", "", (*geometrySample).inflate, (*geometrySample).rawBytes},
	{"decoded", "decompressed, Brotli alone", (*geometrySample).decode, (*geometrySample).rawBytes},
	{"JSON, sizes alone", "", (*geometrySample).count, (*geometrySample).textBytes},
	{"JSON, written", "JSON, sizes alone", (*geometrySample).write, (*geometrySample).textBytes},
}

func (s *geometrySample) rawBytes() int64  { return int64(len(s.raw)) }
func (s *geometrySample) textBytes() int64 { return s.size }

func (s *geometrySample) inflate(context.Context) error {
	if err := s.brotli.Reset(bytes.NewReader(s.file)); err != nil {
		return err
	}
	_, err := io.ReadFull(s.brotli, s.raw)
	return err
}

func (s *geometrySample) decode(context.Context) error {
	var err error
	if s.area {
		_, err = geometry.DecodeArea(s.file, geometry.DecodeOptions{})
	} else {
		_, err = geometry.DecodeZone(s.file, geometry.DecodeOptions{})
	}
	return err
}

func (s *geometrySample) count(ctx context.Context) error {
	_, err := geometry.OffsetsOf(ctx, s.text)
	return err
}

func (s *geometrySample) write(ctx context.Context) error {
	return geometry.WriteText(ctx, io.Discard, s.text)
}

// load makes it the sample of another file; an error matches
// [*geometry.FormatError] if the file is bad.
func (s *geometrySample) load(ctx context.Context, path string) error {
	var err error
	if s.file, err = os.ReadFile(path); err != nil {
		return err
	}
	size := 0
	if s.area {
		a, err := geometry.DecodeArea(s.file, geometry.DecodeOptions{})
		if err != nil {
			return err
		}
		size, s.text = len(a.Raw()), geometry.AreaJSON(a)
	} else {
		z, err := geometry.DecodeZone(s.file, geometry.DecodeOptions{})
		if err != nil {
			return err
		}
		size, s.text = z.RawSize(), geometry.ZoneJSON(z)
	}
	s.raw = make([]byte, size)
	offsets, err := geometry.OffsetsOf(ctx, s.text)
	if err == nil {
		s.size = offsets.Size()
	}
	return err
}

// worldDecoding measures what is done with single files, without a cache.
func (b *benchRun) worldDecoding(ctx context.Context) error {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	w, ok := s.Tree.(*worldtree.Tree)
	if !ok {
		return fmt.Errorf("BUG: a world is a %T", s.Tree)
	}
	for _, area := range []bool{false, true} {
		if err := b.decodeKind(ctx, w, area); err != nil {
			return err
		}
	}
	return nil
}

// decodeKind measures the first zones, or the first areas.
func (b *benchRun) decodeKind(ctx context.Context, w *worldtree.Tree, area bool) error {
	rates := make([][]float64, len(geometryRows))
	count, raw := 0, int64(0)
	for range b.flags.repeat {
		run := geometryRun{sample: geometrySample{area: area, brotli: brotli.NewReader(nil)}}
		for _, f := range w.Files() {
			if f.Area != area || run.files == maxBenchGeometry {
				continue
			}
			if err := run.measure(ctx, filepath.Join(b.path, f.File)); err != nil {
				return fmt.Errorf("%s: %w", f.File, err)
			}
		}
		if count, raw = run.files, run.bytes[0]; count == 0 {
			return nil
		}
		for i := range geometryRows {
			rates[i] = append(rates[i], float64(run.bytes[i])/1e6/run.seconds[i])
		}
	}
	kind := "zones"
	if area {
		kind = "areas"
	}
	table := fmt.Sprintf("%d %s of %d bytes, decompressed", count, kind, raw)
	for i, row := range geometryRows {
		b.add(table, row.what, unitBytes, rates[i])
		if row.of != "" {
			b.relate(row.of)
		}
	}
	return nil
}

// geometryRun sums up what was measured of some files.
type geometryRun struct {
	sample  geometrySample
	files   int
	seconds [len(geometryRows)]float64
	bytes   [len(geometryRows)]int64
}

// measure does each of geometryRows with a file. A bad one is passed over.
func (r *geometryRun) measure(ctx context.Context, path string) error {
	if err := r.sample.load(ctx, path); err != nil {
		if _, bad := errors.AsType[*geometry.FormatError](err); bad {
			return nil
		}
		return err
	}
	r.files++
	for i, row := range geometryRows {
		start := time.Now()
		if err := row.do(&r.sample, ctx); err != nil {
			return err
		}
		r.seconds[i] += time.Since(start).Seconds()
		r.bytes[i] += row.bytes(&r.sample)
	}
	return nil
}

// worldReading reads all JSON, by way of the tree and by grep through a mount.
func (b *benchRun) worldReading(ctx context.Context) error {
	can, err := b.canMount()
	if err != nil {
		return err
	}
	var direct, through, rss []float64
	count, size := 0, int64(0)
	for range b.flags.repeat {
		texts, rate, err := b.readTexts(ctx)
		if err != nil {
			return err
		}
		if count, size = len(texts), sizeOf(texts); count == 0 {
			return nil
		}
		direct = append(direct, rate)
		if !can {
			continue
		}
		err = b.mounted(ctx, nil, func(dir, pid string) error {
			start := time.Now()
			if err := grepTexts(ctx, dir, texts); err != nil {
				return err
			}
			through = append(through, float64(size)/1e6/time.Since(start).Seconds())
			_, peak := residentMemory(pid)
			rss = append(rss, float64(peak)/(1<<20))
			return nil
		})
		if err != nil {
			return err
		}
	}
	const withoutMount = "read without a mount"
	table := fmt.Sprintf("all in %s: %d files of %d bytes", strings.Join(worldTexts, " and "), count, size)
	b.add(table, withoutMount, unitBytes, direct)
	if len(through) > 0 {
		b.add(table, "grep -r through a mount", unitBytes, through)
		b.relate(withoutMount)
		b.add(table, fmt.Sprintf("resident memory behind the mount, peak, of it cache at most %s", b.flags.source.cacheSize.String()), unitMemory, rss)
	}
	return nil
}

func sizeOf(texts []worldText) int64 {
	sum := int64(0)
	for _, t := range texts {
		sum += t.Size
	}
	return sum
}

// readTexts opens the folder, so that nothing is in the cache, and reads all texts
// that can be read, which it gives with the megabytes a second.
func (b *benchRun) readTexts(ctx context.Context) (good []worldText, rate float64, err error) {
	s, err := b.open(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	texts, err := listTexts(ctx, s, b.flags.entries)
	if err != nil {
		return nil, 0, err
	}
	buf := make([]byte, 128<<10) // what a mount is asked for
	start := time.Now()
	for _, t := range texts {
		r := s.Content(ctx, t.Entry)
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, buf)
		if err == nil {
			good = append(good, t)
		}
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
	}
	return good, float64(sizeOf(good)) / 1e6 / time.Since(start).Seconds(), nil
}

// grepTexts has grep read texts. It finds nothing, for which its code is 1.
func grepTexts(ctx context.Context, dir string, texts []worldText) error {
	args := []string{"-r", "no value has this text"}
	for _, t := range texts {
		args = append(args, t.path)
	}
	c := exec.CommandContext(ctx, "grep", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err == nil || (ok && exit.ExitCode() == 1) {
		return nil
	}
	return fmt.Errorf("grep: %w: %s", err, strings.TrimSpace(string(out[:min(len(out), 200)])))
}
