package casckind

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"lorefs/casc/root"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/treecopy"
	"lorefs/internal/shown"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

// ErrNotDescribed means that there is nothing to say about a path besides its attributes.
var ErrNotDescribed = errors.New("info of a PATH is for a file from the archives of a CASC storage")

// cascFile describes a file of a CASC storage for info. Its fields are printed in this
// order, and scripts rely on their names.
type cascFile struct {
	// Path is the path in a mount.
	Path string `json:"path"`
	Size int64  `json:"size"`
	// ContentKey is the MD5 of the content.
	ContentKey string `json:"content_key,omitempty"`
	// Root are the entries of the root; RootEntries is the number of all, of which only the
	// first are listed.
	Root        []cascRootEntry `json:"root"`
	RootEntries int             `json:"root_entries"`
	// Forms are encoded forms of the content, any of which will do. Each is a list of encoded
	// files, most of one.
	Forms [][]cascEncoded `json:"forms"`
	// Readable says that all of it can be read; Reason is missing, no_key, damaged or failed if
	// not, and Error says more.
	Readable bool   `json:"readable"`
	Reason   string `json:"reason,omitempty"`
	Error    string `json:"error,omitempty"`
	// WithoutKey are the ranges of the content that lack an encryption key.
	WithoutKey []cascGap `json:"without_key,omitempty"`

	// nowhere says why an encoded file is in no archive.
	nowhere string
}

// cascRootEntry is an entry of the root.
type cascRootEntry struct {
	Name     string  `json:"name,omitempty"`
	ID       *uint32 `json:"id,omitempty"`
	NameHash string  `json:"name_hash,omitempty"`
	Locale   string  `json:"locale,omitempty"`
	// Flags are the content flags, in hex.
	Flags string `json:"flags,omitempty"`
}

// cascEncoded is an encoded file.
type cascEncoded struct {
	EncodingKey string `json:"encoding_key"`
	ESpec       string `json:"espec,omitempty"`
	// EncodedSize is -1 if it is unknown.
	EncodedSize int64 `json:"encoded_size"`
	// Archive and Offset are its place, behind the header that archives have before each file;
	// they are absent if it is not installed.
	Archive string `json:"archive,omitempty"`
	Offset  *int64 `json:"offset,omitempty"`
	// ContentOffset and ContentSize are the part of its content that belongs to the file;
	// they are absent if that is all of it.
	ContentOffset *int64 `json:"content_offset,omitempty"`
	ContentSize   *int64 `json:"content_size,omitempty"`
	// Error says why something about it is unknown.
	Error string `json:"error,omitempty"`
}

// cascGap is a range that lacks a key.
type cascGap struct {
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Key    string `json:"key"`
}

// DescribeFile describes a file of the source: where its content comes from, and why it can't
// be read if so. It reads the file. The error matches [ErrNotDescribed] if there is nothing to
// describe.
func DescribeFile(ctx context.Context, s *kinds.Source, name string) (kinds.Description, error) {
	f, err := s.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	c, ok := s.Archive.(*cascStorage)
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, ErrNotDescribed)
	}
	tr, err := c.tree.Trace(ctx, f.ID)
	if errors.Is(err, nodes.ErrInvalid) {
		err = ErrNotDescribed
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := describeFile(&tr)
	if d.nowhere = "it is not installed"; c.cdn != nil {
		d.nowhere = "no host has it"
	}
	return d, nil
}

// Failed reports whether it could not be found out whether the file can be read.
func (d *cascFile) Failed() bool { return d.Reason == string(treecopy.Failed) }

func describeFile(tr *casctree.Traced) *cascFile {
	d := &cascFile{
		Path: tr.Path, Size: tr.Size, RootEntries: tr.NRows, Readable: tr.Err == nil,
		Root: []cascRootEntry{}, Forms: [][]cascEncoded{},
	}
	if !tr.CKey.IsZero() {
		d.ContentKey = tr.CKey.String()
	}
	for i := range tr.Rows {
		d.Root = append(d.Root, describeRow(&tr.Rows[i]))
	}
	for _, spans := range tr.Forms {
		var form []cascEncoded
		for i := range spans {
			form = append(form, describeSpan(&spans[i]))
		}
		d.Forms = append(d.Forms, form)
	}
	for _, g := range tr.Gaps {
		d.WithoutKey = append(d.WithoutKey, cascGap{g.Off, g.Size, g.Key.String()})
	}
	if tr.Err != nil {
		d.Reason, d.Error = string(treecopy.ReasonOf(tr.Err)), shown.Line(tr.Err)
	}
	return d
}

func describeRow(f *root.File) cascRootEntry {
	r := cascRootEntry{Name: f.Name}
	if f.HasID {
		r.ID = &f.ID
	}
	if f.HasHash {
		r.NameHash = fmt.Sprintf("%016x", f.NameHash)
	}
	if f.Locale != 0 {
		r.Locale = f.Locale.String()
	}
	if f.Flags != 0 {
		r.Flags = fmt.Sprintf("%#x", uint32(f.Flags))
	}
	return r
}

func describeSpan(s *casctree.TracedSpan) cascEncoded {
	e := cascEncoded{EncodingKey: hex.EncodeToString(s.EKey[:s.KeySize]), ESpec: s.Spec, EncodedSize: cmp.Or(s.Size, -1), Archive: s.Archive}
	if s.Archive != "" {
		e.Offset = &s.Off
	}
	if !s.Whole {
		e.ContentOffset, e.ContentSize = &s.From, &s.Length
	}
	if s.Err != nil {
		e.Error = shown.Line(s.Err)
	}
	return e
}

func (d *cascFile) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	text := func(name, value string) {
		if value != "" {
			shown.Fprintf(t, "%s\t%s\n", name, value)
		}
	}
	text("path", d.Path)
	text("size", shown.Plural(d.Size, "byte"))
	text("content key", d.ContentKey)
	for i := range d.Root {
		text("root", d.Root[i].line())
	}
	if more := d.RootEntries - len(d.Root); more > 0 {
		text("root", fmt.Sprintf("%d more", more))
	}
	for i, form := range d.Forms {
		if len(d.Forms) > 1 {
			text("form", fmt.Sprintf("%d of %d", i+1, len(d.Forms)))
		}
		for j := range form {
			e := &form[j]
			text("encoding key", e.EncodingKey)
			if e.ContentOffset != nil {
				text("  part", fmt.Sprintf("%s of its content from %d on", shown.Plural(*e.ContentSize, "byte"), *e.ContentOffset))
			}
			text("  espec", e.ESpec)
			if e.EncodedSize >= 0 {
				text("  encoded size", shown.Plural(e.EncodedSize, "byte"))
			}
			switch {
			case e.Offset != nil:
				text("  archive", fmt.Sprintf("%s at %#x", e.Archive, *e.Offset))
			case e.Error == "":
				text("  archive", "none: "+d.nowhere)
			}
			text("  unknown", e.Error)
		}
	}
	text("can't be read", d.Error)
	for _, g := range d.WithoutKey {
		text("without key", fmt.Sprintf("%s from %d on, key %s", shown.Plural(g.Size, "byte"), g.Offset, g.Key))
	}
	return t.Flush()
}

func (r *cascRootEntry) line() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, strings.TrimSpace(name+" "+value))
		}
	}
	add("", r.Name)
	if r.ID != nil {
		add("id", fmt.Sprint(*r.ID))
	}
	add("hash", r.NameHash)
	add("locale", r.Locale)
	add("flags", r.Flags)
	return strings.Join(parts, ", ")
}
