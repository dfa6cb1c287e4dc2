package web

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"net/http"
	"path"
	"strings"
	"time"

	"lorefs/internal/shown"
	"lorefs/nodes"
)

// listed is an entry of a folder as JSON.
type listed struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Size is null for what has none.
	Size     *int64    `json:"size"`
	Modified time.Time `json:"modified"`
	// Problem says why a file can't be read.
	Problem string `json:"problem,omitempty"`
}

// list answers with the entries of a folder as a list of JSON.
func (v *visit) list() {
	v.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	out := bufio.NewWriterSize(v.w, answerBuffer)
	between := "["
	for e, err := range v.entries(0) {
		if err != nil {
			v.breakOff(err)
		}
		one := listed{Name: strings.ToValidUTF8(e.Name, "\ufffd"), Kind: e.Kind.String(), Modified: e.ModTime}
		if e.Kind == nodes.File {
			one.Size = &e.Size
		}
		if err := v.readable(&e); err != nil {
			one.Problem = shown.Line(err)
		}
		text, err := json.Marshal(one)
		if err != nil {
			v.breakOff(err)
		}
		_, _ = out.WriteString(between + "\n" + string(text))
		between = ","
	}
	if between == "[" {
		_, _ = out.WriteString(between)
	}
	_, _ = out.WriteString("\n]\n")
	_ = out.Flush() // the client may have gone
}

// entries yields the entries of the folder, with sizes and times.
func (v *visit) entries(cursor uint64) iter.Seq2[nodes.Entry, error] {
	ctx := v.r.Context()
	return func(yield func(nodes.Entry, error) bool) {
		for e, err := range v.source.Tree.ReadDir(ctx, v.at.ID, cursor) {
			if err == nil {
				e, err = nodes.WithSize(ctx, v.source.Tree, e)
			}
			if e.ModTime.IsZero() {
				e.ModTime = v.at.ModTime
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// unreadable is the file at the end of a packed folder that names what is not in it.
const unreadable = "lorefs-unreadable.txt"

// packer writes entries into an archive.
type packer interface {
	// begin begins an entry, and returns where its content goes.
	begin(name string, e *nodes.Entry, target string) (io.Writer, error)
	Close() error
}

// pack answers with all that is below a folder. What can't be read is named in a file of its own; what
// fails in the middle ends the answer early, and the client sees that.
func (v *visit) pack(zipped bool) {
	name := path.Base("/" + v.at.Path)
	if name == "/" {
		name = "files"
	}
	out := bufio.NewWriterSize(v.w, answerBuffer)
	h := v.w.Header()
	var p packer
	if zipped {
		h.Set("Content-Type", "application/zip")
		p, name = zipPacker{zip.NewWriter(out)}, name+".zip"
	} else {
		h.Set("Content-Type", "application/x-tar")
		p, name = tarPacker{tar.NewWriter(out)}, name+".tar"
	}
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("Content-Disposition", disposition(name, false))
	if v.r.Method == http.MethodHead {
		return
	}
	if err := v.packAll(p); err != nil {
		v.breakOff(err)
	}
	if p.Close() == nil {
		_ = out.Flush() // the client may have gone
	}
}

func (v *visit) packAll(p packer) error {
	ctx := v.r.Context()
	var left strings.Builder
	for e, err := range nodes.Walk(ctx, v.source.Tree, v.at.ID) {
		if err != nil {
			return err
		}
		if err := v.readable(&e.Entry); err != nil {
			fmt.Fprintf(&left, "%s: %s\n", shown.Text(e.Path), shown.Line(err))
			continue
		}
		if err := v.packOne(p, &e); err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	if left.Len() == 0 {
		return nil
	}
	e := nodes.Entry{Kind: nodes.File, Size: int64(left.Len()), ModTime: v.at.ModTime}
	w, err := p.begin(unreadable, &e, "")
	if err == nil {
		_, err = io.WriteString(w, left.String())
	}
	return err
}

func (v *visit) packOne(p packer, e *nodes.WalkEntry) (err error) {
	ctx, target := v.r.Context(), ""
	if e.ModTime.IsZero() {
		e.ModTime = v.at.ModTime
	}
	switch e.Kind {
	case nodes.Link:
		target, err = nodes.Readlink(ctx, v.source.Tree, e.ID)
	case nodes.File:
		e.Entry, err = nodes.WithSize(ctx, v.source.Tree, e.Entry)
	}
	if err != nil {
		return err
	}
	w, err := p.begin(e.Path, &e.Entry, target)
	if err != nil || e.Kind != nodes.File {
		return err
	}
	n, err := io.Copy(w, newReader(v.source.Content(ctx, e.Entry)))
	if err == nil && n != e.Size {
		err = fmt.Errorf("%w: the file ends at %d instead of %d", io.ErrUnexpectedEOF, n, e.Size)
	}
	return err
}

const (
	dirMode  = 0o755
	fileMode = 0o644
	linkMode = iofs.ModeSymlink | 0o777
)

type tarPacker struct{ *tar.Writer }

func (p tarPacker) begin(name string, e *nodes.Entry, target string) (io.Writer, error) {
	h := tar.Header{Name: name, ModTime: e.ModTime, Mode: fileMode, Typeflag: tar.TypeReg, Size: e.Size}
	switch e.Kind {
	case nodes.Dir:
		h.Name, h.Mode, h.Typeflag, h.Size = name+"/", dirMode, tar.TypeDir, 0
	case nodes.Link:
		h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
	}
	return p, p.WriteHeader(&h)
}

type zipPacker struct{ *zip.Writer }

func (p zipPacker) begin(name string, e *nodes.Entry, target string) (io.Writer, error) {
	h := zip.FileHeader{Name: name, Modified: e.ModTime, Method: zip.Deflate}
	h.SetMode(fileMode)
	switch e.Kind {
	case nodes.Dir:
		h.Name, h.Method = name+"/", zip.Store
	case nodes.Link:
		h.SetMode(linkMode)
	}
	w, err := p.CreateHeader(&h)
	if err == nil && e.Kind == nodes.Link {
		_, err = io.WriteString(w, target)
	}
	return w, err
}
