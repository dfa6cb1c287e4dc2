package kinds

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/packettree"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

func packetsKind() *Kind {
	return &Kind{
		Name:   PacketsName,
		Noun:   "recorded sessions and packet definitions",
		is:     isPackets,
		open:   openPackets,
		verify: verifyPackets,
	}
}

// isPackets tells a recorded session or a folder of definitions.
func isPackets(path string, info iofs.FileInfo) (bool, error) {
	if info.IsDir() {
		return holdsDefinitions(path)
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	f, err := source.Open(path)
	if err != nil {
		return false, err
	}
	is, err := capture.Detect(f, f.Size())
	return is, errors.Join(err, f.Close())
}

// holdsDefinitions tells whether there are definitions or maps in a folder, or in one
// right below it, as tera-data has them.
func holdsDefinitions(dir string) (bool, error) {
	folder, err := source.OpenFolder(dir)
	if err != nil {
		return false, err
	}
	entries, err := iofs.ReadDir(folder, ".")
	if err != nil || anyDefinition(folder, ".", entries) {
		return err == nil, err
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, err := iofs.ReadDir(folder, e.Name())
		if err != nil {
			continue // it may be nobody's business
		}
		if anyDefinition(folder, e.Name(), below) {
			return true, nil
		}
	}
	return false, nil
}

func anyDefinition(folder iofs.FS, dir string, entries []iofs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e iofs.DirEntry) bool {
		return !e.IsDir() && isDefinition(folder, path.Join(dir, e.Name()))
	})
}

// isDefinition tells definitions and maps by their names, but maps in JSON by what they
// hold, as anything can have such a name.
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

// packets is an open recorded session with its definitions, or a folder of them.
type packets struct {
	plain
	// file and recording are nil for a folder.
	file      *source.File
	recording *dissect.Recording
	// folder and lib are nil for a session without definitions.
	folder *source.Folder
	lib    *protocol.Library
	// since is when the source last changed, and size how large it is, without the
	// definitions of a session.
	since time.Time
	size  int64
	// blocks keeps packets for a while; nil for one that is only verified.
	blocks *blockcache.Cache
}

// packetCache is enough: a packet is decoded in microseconds, so keeping it pays only
// from one read of a large file to the next. Small ones cost more to keep than they
// have bytes.
const packetCache = 2 << 20

func openPackets(ctx context.Context, path string, o opening) (archive, error) {
	p, err := newPackets(ctx, path, &o.Packets, false)
	if err != nil {
		return nil, UnreadablePackets(path, err)
	}
	if p.recording != nil && p.recording.Map() != nil {
		for _, d := range p.recording.Map().Wrong {
			o.Logger.Warn("a line of the map is left out", "file", d.File, "line", d.Line, "err", d.Text)
		}
	}
	o.blocks.SetBudget(min(o.CacheSize, packetCache))
	p.blocks = o.blocks
	return p, nil
}

func newPackets(ctx context.Context, path string, o *PacketOptions, strict bool) (*packets, error) {
	reading := protocol.LibraryOptions{Codec: protocol.Options{Inline: o.Inline, Strict: strict}, Platform: o.Platform}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return newDefinitions(path, info, reading)
	}
	p := &packets{since: info.ModTime(), size: info.Size()}
	if o.Definitions != "" {
		if p.folder, p.lib, err = OpenDefinitions(o.Definitions, reading); err != nil {
			return nil, err
		}
	}
	if p.file, err = source.Open(path); err != nil {
		return nil, err
	}
	log, err := capture.Open(ctx, guarded{p.file}, p.file.Size(), capture.Options{})
	if err == nil {
		p.recording, err = dissect.New(log, p.lib, dissect.Options{Revision: o.Revision, Patch: o.Patch})
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// newDefinitions opens a folder of definitions as the source itself.
func newDefinitions(path string, info iofs.FileInfo, opts protocol.LibraryOptions) (p *packets, err error) {
	p = &packets{since: info.ModTime()}
	if p.folder, p.lib, err = OpenDefinitions(path, opts); err != nil {
		return nil, err
	}
	for _, d := range p.lib.Definitions() {
		p.size += fileSize(path, d.Path)
	}
	for _, m := range p.lib.Maps() {
		p.size += fileSize(path, m.Path)
	}
	return p, nil
}

// fileSize is for statistics: a file of which it can't be told counts as empty.
func fileSize(dir, name string) int64 {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return 0
	}
	return info.Size()
}

// OpenDefinitions looks through a folder of definitions and maps.
func OpenDefinitions(dir string, opts protocol.LibraryOptions) (*source.Folder, *protocol.Library, error) {
	folder, err := source.OpenFolder(dir)
	if err != nil {
		return nil, nil, Unreadable(dir, err)
	}
	lib, err := protocol.OpenLibrary(guardedFS{folder}, opts)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if len(lib.Definitions())+len(lib.Maps()) == 0 {
		return nil, nil, fmt.Errorf("%s: no packet definitions (NAME.VERSION.def) and no maps are there", dir)
	}
	return folder, lib, nil
}

// UnreadablePackets is [Unreadable] of a session, or of definitions, that can't be opened or read.
func UnreadablePackets(path string, err error) error {
	if errors.Is(err, capture.ErrUnknown) {
		return at(path, err)
	}
	if pe, ok := errors.AsType[*iofs.PathError](err); ok && pe.Path != path {
		return &Error{Err: err} // of a file in the folder, which it names
	}
	if _, ok := errors.AsType[*capture.FormatError](err); ok {
		return at(path, err)
	}
	return Unreadable(path, err)
}

// ModTime is that of the session, or of the folder.
func (p *packets) ModTime() time.Time { return p.since }

// Check looks at the session and at its definitions.
func (p *packets) Check() error {
	if p.file != nil {
		if err := p.file.Check(); err != nil {
			return changed(err)
		}
	}
	if p.folder != nil {
		return changed(p.folder.Check())
	}
	return nil
}

func (p *packets) mounts() ([]nodes.Mount, error) {
	return wholeRoot(packettree.New(p.recording, p.lib, packettree.Options{
		ModTime: p.since, SourceSize: p.size, Cache: p.blocks, Check: p.Check,
	})), nil
}

func (p *packets) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}
