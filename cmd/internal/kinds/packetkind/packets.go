// Package packetkind is the kind of source of a recorded session, or of a folder of packet definitions.
package packetkind

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/origin"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/packettree"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// Kind returns the kind of recorded sessions and of packet definitions.
func Kind() *kinds.Kind {
	return &kinds.Kind{
		Name:        kinds.PacketsName,
		Noun:        "recorded sessions and packet definitions",
		Strict:      true,
		Recognize:   isPackets,
		OpenArchive: openPackets,
		Findings:    verifyPackets,
		Diff:        diffSessions,
	}
}

// isPackets reports whether a file is a recorded session, or a folder has definitions.
func isPackets(path string, info iofs.FileInfo) (bool, error) {
	if info.IsDir() {
		return hasDefinitions(path)
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	format, err := recordingFormat(path)
	return format != 0, err
}

// recordingFormat returns the format of a file that is a recorded session, or 0.
func recordingFormat(path string) (capture.Format, error) {
	f, err := source.Open(path)
	if err != nil {
		return 0, err
	}
	f.AllowGrowth()
	format, err := capture.Detect(f, f.Size())
	return format, errors.Join(err, f.Close())
}

// IsBinaryRecording reports whether a file is a recorded session, and no text with packets in
// hex digits.
func IsBinaryRecording(path string) bool {
	format, err := recordingFormat(path)
	return err == nil && format != 0 && format != capture.Hex
}

// hasDefinitions reports whether a folder has definitions or maps, or a folder directly
// below it has, as in the tera-data repository.
func hasDefinitions(dir string) (bool, error) {
	folder, err := source.OpenFolder(dir)
	if err != nil {
		return false, err
	}
	entries, err := iofs.ReadDir(folder, ".")
	if err != nil || AnyDefinition(folder, ".", entries) {
		return err == nil, err
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, err := iofs.ReadDir(folder, e.Name())
		if err != nil {
			continue // a folder that can't be read has none for us
		}
		if AnyDefinition(folder, e.Name(), below) {
			return true, nil
		}
	}
	return false, nil
}

// AnyDefinition reports whether one of the entries of a folder is a definition.
func AnyDefinition(folder iofs.FS, dir string, entries []iofs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e iofs.DirEntry) bool {
		return !e.IsDir() && isDefinition(folder, path.Join(dir, e.Name()))
	})
}

// isDefinition reports whether a file is a definition or a map, by its name or, if the name
// ends in .json, by its content, since anything may have such a name.
func isDefinition(folder iofs.FS, name string) bool {
	if n, ok := protocol.ParseFileName(path.Base(name)); ok {
		return !n.Script
	}
	if _, _, isMap := protocol.ParseMapName(path.Base(name)); !isMap || strings.HasSuffix(name, ".map") {
		return isMap
	}
	m, err := protocol.ReadMap(folder, name)
	return err == nil && m.Len() > 0 && len(m.Wrong) == 0
}

// packets is an open recording with its definitions, or a folder of definitions.
type packets struct {
	kinds.Plain
	// file and recording are nil for a folder.
	file kinds.Original
	// recording is the one that was opened; now is what it has grown to.
	recording *dissect.Recording
	now       atomic.Pointer[dissect.Recording]
	// broken is why it can't grow on: nonsense was appended.
	broken atomic.Pointer[error]
	tree   *packettree.Tree
	// folder and lib are nil for a recording without definitions.
	folder kinds.Folder
	lib    *protocol.Library
	// since is the modification time of the source. size is its size in bytes; for a
	// recording it does not include the definitions.
	since time.Time
	size  int64
	// blocks is the cache of packets; it is nil if the source is only verified.
	blocks *blockcache.Cache
	// follow is as in PacketOptions.
	follow bool
}

// packetCache is the size of that cache. It is small, since a packet is decoded in
// microseconds: a packet is kept only from one read of a large file to the next, and small
// ones are not worth their entries.
const packetCache = 2 << 20

func openPackets(ctx context.Context, path string, o kinds.Opening) (kinds.Archive, error) {
	p, err := newPackets(ctx, path, o.Options, false)
	if err != nil {
		return nil, UnreadablePackets(path, err)
	}
	if p.recording != nil && p.recording.Map() != nil {
		for _, d := range p.recording.Map().Wrong {
			o.Logger.Warn("a line of the map is left out", "file", d.File, "line", d.Line, "err", d.Text)
		}
	}
	o.Blocks.SetBudget(min(o.CacheSize, packetCache))
	p.blocks = o.Blocks
	return p, nil
}

func newPackets(ctx context.Context, path string, all *kinds.Options, strict bool) (*packets, error) {
	o := &all.Packets
	reading := protocol.LibraryOptions{Codec: protocol.Options{Inline: o.Inline, Strict: strict}, Platform: o.Platform}
	if isDir, err := kinds.IsFolder(ctx, path, all); err != nil || isDir {
		if err != nil {
			return nil, err
		}
		return newDefinitions(ctx, path, all, reading)
	}
	p := &packets{follow: o.Follow}
	var err error
	if o.Definitions != "" {
		if p.folder, p.lib, err = openDefinitions(ctx, o.Definitions, all, reading); err != nil {
			return nil, err
		}
	}
	if p.file, err = kinds.OpenOriginal(ctx, path, all); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if f, ok := p.file.(*source.File); ok {
		f.AllowGrowth()
	}
	p.since, p.size = p.file.ModTime(), p.file.Size()
	p.recording, err = dissect.Open(ctx, kinds.Guarded{File: p.file}, p.size, capture.Options{Follow: o.Follow}, p.lib,
		dissect.Options{Revision: o.Revision, Patch: o.Patch})
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.now.Store(p.recording)
	return p, nil
}

// grown looks whether packets were appended to the recording. If so it returns the recording
// as it is now, and the time of that. An error stays: Check returns it from then on.
func (p *packets) grown(ctx context.Context) (*dissect.Recording, time.Time, error) {
	was := p.now.Load()
	file, ok := p.file.(*source.File)
	if !ok { // what is on a server may change, but does not grow
		return nil, time.Time{}, p.Check()
	}
	size, err := file.Grown()
	if err != nil {
		return nil, time.Time{}, &kinds.Error{Err: kinds.Changed(err)}
	}
	log, err := was.Log().Grown(ctx, size)
	if err == nil && log == was.Log() {
		return nil, time.Time{}, p.Check()
	}
	var now *dissect.Recording
	if err == nil {
		now, err = was.Grown(log)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return nil, time.Time{}, nil // definitions on a server were left by others: look again later
	}
	if err != nil {
		if err = UnreadablePackets(p.file.Path(), err); ctx.Err() == nil {
			p.broken.Store(&err)
		}
		return nil, time.Time{}, err
	}
	p.now.Store(now)
	return now, p.file.ModTime(), nil
}

// Notices tells that the recording ends within a packet.
func (p *packets) Notices() []string {
	r := p.now.Load()
	if r == nil || r.Log().Info().Incomplete == nil {
		return nil
	}
	return []string{"the recording does not end with a whole packet: " + r.Log().Info().Incomplete.Error()}
}

// Recording is a recorded session that may be growing.
type Recording struct{ p *packets }

// RecordingOf returns a source as a recorded session; ok is false if it is something else.
func RecordingOf(s *kinds.Source) (r Recording, ok bool) {
	p, ok := s.Archive.(*packets)
	return Recording{p}, ok && p.recording != nil
}

// Now returns the recording as it was when Grow looked last.
func (r Recording) Now() *dissect.Recording { return r.p.now.Load() }

// Grow looks whether packets were appended. A file that was cut or replaced is an error.
func (r Recording) Grow(ctx context.Context) error {
	_, _, err := r.p.grown(ctx)
	return err
}

// newDefinitions opens a folder of definitions that is the source itself.
func newDefinitions(ctx context.Context, path string, o *kinds.Options, opts protocol.LibraryOptions) (p *packets, err error) {
	p = &packets{}
	if p.folder, p.lib, err = openDefinitions(ctx, path, o, opts); err != nil {
		return nil, err
	}
	if d, ok := p.folder.(*kinds.DistantFolder); ok {
		p.since = d.ModTime()
	} else if info, err := p.folder.Stat("."); err == nil {
		p.since = info.ModTime()
	}
	for _, d := range p.lib.Definitions() {
		p.size += fileSize(p.folder, d.Path)
	}
	for _, m := range p.lib.Maps() {
		p.size += fileSize(p.folder, m.Path)
	}
	return p, nil
}

// fileSize returns the size of a file for statistics, and 0 if it is unknown.
func fileSize(in iofs.StatFS, name string) int64 {
	info, err := in.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// OpenDefinitions opens a folder of definitions and maps, for as long as the process lives.
func OpenDefinitions(ctx context.Context, dir string, opts protocol.LibraryOptions) (*protocol.Library, error) {
	_, lib, err := openDefinitions(ctx, dir, &kinds.Options{}, opts)
	return lib, err
}

func openDefinitions(ctx context.Context, dir string, o *kinds.Options, opts protocol.LibraryOptions) (in kinds.Folder, lib *protocol.Library, err error) {
	if origin.IsRemote(dir) {
		in, err = kinds.OpenDistant(ctx, dir, o)
	} else {
		in, err = source.OpenFolder(dir)
	}
	if err != nil {
		return nil, nil, kinds.Unreadable(dir, err)
	}
	lib, err = protocol.OpenLibrary(kinds.GuardedFS{Folder: in}, opts)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", origin.Shown(dir), err)
	case len(lib.Definitions())+len(lib.Maps()) == 0:
		err = fmt.Errorf("%s: no packet definitions (NAME.VERSION.def) and no maps are there", origin.Shown(dir))
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeFolder(in))
	}
	return in, lib, nil
}

// fetchLibrary fetches all definitions and maps that are on a server, since all will be read.
func (p *packets) fetchLibrary() {
	d, ok := p.folder.(*kinds.DistantFolder)
	if !ok {
		return
	}
	var names []string
	for _, one := range p.lib.Definitions() {
		names = append(names, one.Path)
	}
	for _, one := range p.lib.Maps() {
		names = append(names, one.Path)
	}
	d.Fetch(names)
}

// closeFolder closes a folder on a server. One on this machine needs no closing.
func closeFolder(in kinds.Folder) error {
	if d, ok := in.(*kinds.DistantFolder); ok {
		return d.Close()
	}
	return nil
}

// UnreadablePackets is [kinds.Unreadable] for recordings and definitions.
func UnreadablePackets(path string, err error) error {
	if errors.Is(err, capture.ErrUnknown) {
		return kinds.At(path, err)
	}
	if pe, ok := errors.AsType[*iofs.PathError](err); ok && pe.Path != path {
		return &kinds.Error{Err: err} // it names a file in the folder
	}
	if _, ok := errors.AsType[*capture.FormatError](err); ok {
		return kinds.At(path, err)
	}
	return kinds.Unreadable(path, err)
}

// ModTime implements [kinds.Archive].
func (p *packets) ModTime() time.Time { return p.since }

// Check returns an error if the recording or its definitions have changed, but for what was
// appended to the recording.
func (p *packets) Check() error {
	if err := p.broken.Load(); err != nil {
		return *err
	}
	if p.file != nil {
		if err := p.file.Check(); err != nil {
			return kinds.Changed(err)
		}
	}
	if p.folder != nil {
		return kinds.Changed(p.folder.Check())
	}
	return nil
}

func (p *packets) Mounts() ([]nodes.Mount, error) {
	o := packettree.Options{ModTime: p.since, SourceSize: p.size, Cache: p.blocks, Check: p.Check}
	if _, local := p.file.(*source.File); local && p.follow {
		o.Grown = p.grown
	}
	p.tree = packettree.New(p.recording, p.lib, o)
	return kinds.WholeRoot(p.tree), nil
}

func (p *packets) Close() error {
	if p.tree != nil {
		p.tree.Close()
	}
	err := closeFolder(p.folder)
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
	}
	return err
}

// Servers returns the servers that it is read from.
func (p *packets) Servers() []*kinds.Server {
	return append(kinds.ServersIn(p.file), kinds.ServersIn(p.folder)...)
}

// Fetched returns what was fetched, see [kinds.Source.Remote].
func (p *packets) Fetched() *kinds.RemoteStatus {
	if d, ok := p.folder.(*kinds.DistantFolder); ok && p.file == nil {
		return d.Server.Fetched()
	}
	return kinds.FetchedFor(p.file)
}
