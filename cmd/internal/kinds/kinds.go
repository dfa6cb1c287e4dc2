package kinds

import (
	"context"
	"fmt"
	iofs "io/fs"
	"iter"

	"lorefs/cmd/internal/output"
	"lorefs/internal/shown"
)

// Names of the kinds, as users write them.
const (
	DataCenterName = "datacenter"
	WorldName      = "world"
	CASCName       = "casc"
	PacketsName    = "packets"
	TablesName     = "tables"
)

// Kind is a kind of source: how to recognize one, open it and check it.
type Kind struct {
	Name string
	// Noun names such a source in messages.
	Noun string
	// Exports is the directory that export copies by default; empty for the root.
	Exports string
	// Plain is the directory with the whole source and nothing rendered; empty for the root.
	Plain string

	// Links is the directory in which there are only links; empty if there is none.
	Links string
	// IgnoresCase says that lookups of names in another case succeed.
	IgnoresCase bool
	// Editable says that such sources can be edited.
	Editable bool
	// Strict says that a strict check of such sources finds more.
	Strict bool
	// Sheets says that such a source has sheets, which patches, queries and schemas are about.
	Sheets bool
	// Builds says that such a source may have several builds, which can be compared.
	Builds bool
	// Chunks says that files are read by large chunks, which no two files share.
	Chunks bool
	// AnyFile says that any file of no other kind is taken for such a source.
	AnyFile bool
	// GamePaths says that paths may also be those of the game: below Plain, and with backslashes.
	GamePaths bool
	// Pack packs the files of a folder into a source, and checks what was written. The caller
	// must have a claim on that. It is nil for kinds that are no folder of any files.
	Pack func(ctx context.Context, dir, to string, o FolderPacking) (Packed, error)

	// Diff yields what differs between two sources of the kind, as edits of the first would be that made
	// the second of it. It is nil for kinds of which diff has a way of its own, or none.
	Diff func(ctx context.Context, a, b Archive) iter.Seq2[Edit, error]
	// Recognize reports whether a path leads to a source of this kind.
	Recognize func(path string, info iofs.FileInfo) (bool, error)
	// OpenArchive opens a source for [Kind.Open], and Findings checks one for [Kind.Verify].
	OpenArchive func(ctx context.Context, path string, o Opening) (Archive, error)
	Findings    func(ctx context.Context, path string, o Opening, v VerifyOptions) iter.Seq2[Finding, error]
}

// FolderPacking are the options of [Kind.Pack].
type FolderPacking struct {
	output.Options
	// Like is a file of the format that has what the folder lacks; empty for none. All says that
	// nothing else than the folder has is wanted.
	Like string
	All  bool
	// Progress is called with the number of bytes that were written.
	Progress func(done, total int64)
}

// Packed says what was packed.
type Packed struct {
	// Files is the number of files. LeftOut are the names of those that were left out, since
	// editors make files with such names for themselves.
	Files   int
	LeftOut []string
	// Lent is how many of the files are those of FolderPacking.Like.
	Lent int
}

// LackingError means that a folder lacks files of the source that it was to replace.
type LackingError struct {
	Dir, Source string
	Names       []string
}

func (e *LackingError) Error() string {
	return fmt.Sprintf("%s has %s that %s lacks, such as %s; nothing was written",
		e.Source, shown.Plural(len(e.Names), "file"), e.Dir, shown.Text(e.Names[0]))
}
