package web

import (
	"bufio"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"

	"lorefs/nodes"
)

// filePolicy is what a browser may do with bytes of the source: nothing.
const filePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"

// shownTypes are the types that a browser may show by itself. All others are downloaded.
var shownTypes = map[string]string{
	".txt": "text/plain; charset=utf-8", ".csv": "text/plain; charset=utf-8", ".json": "text/plain; charset=utf-8",
	".jsonl": "text/plain; charset=utf-8", ".xml": "text/plain; charset=utf-8", ".xsd": "text/plain; charset=utf-8",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
}

const (
	plainType = "application/octet-stream"
	// svgType is only for pictures on a page, where scripts in them do not run.
	svgType = "image/svg+xml"
)

// typeOf returns the type of a file by its name, and whether a browser may show it by itself.
func typeOf(name string) (mediaType string, inline bool) {
	ext := strings.ToLower(path.Ext(name))
	if t := shownTypes[ext]; t != "" {
		return t, true
	}
	if ext == ".svg" {
		return svgType, false
	}
	return plainType, false
}

// content answers with the bytes of a file, or with a part of them.
func (v *visit) content() {
	e := v.at.Entry
	mediaType, inline := typeOf(e.Name)
	h := v.w.Header()
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("Content-Type", mediaType)
	h.Set("ETag", v.etag(&e))
	h.Set("Content-Disposition", disposition(e.Name, inline))
	content := v.source.Content(v.r.Context(), e)
	if v.r.Method == http.MethodGet && e.Size > 0 {
		// What can't be read at all gets a status. What fails later ends the connection early.
		if _, err := content.ReadAt(make([]byte, 1), 0); err != nil && err != io.EOF {
			fail(v.w, err)
			return
		}
	}
	http.ServeContent(v.w, v.r, "", e.ModTime, newReader(content))
}

// disposition returns how a file is offered under its name.
func disposition(name string, inline bool) string {
	how := "attachment"
	if inline {
		how = "inline"
	}
	if d := mime.FormatMediaType(how, map[string]string{"filename": strings.ToValidUTF8(name, "_")}); d != "" {
		return d
	}
	return how
}

// readAhead is how much of a file is read at once: 32 KB, which net/http copies, would cost a tree that
// renders a file the way to that place each time.
const readAhead = 256 << 10

// reader reads a file by large pieces.
type reader struct {
	content  *io.SectionReader
	buffered *bufio.Reader
}

func newReader(content *io.SectionReader) *reader {
	return &reader{content, bufio.NewReaderSize(content, readAhead)}
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) { return r.buffered.Read(p) }

// Seek implements [io.Seeker].
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekCurrent {
		offset -= int64(r.buffered.Buffered())
	}
	at, err := r.content.Seek(offset, whence)
	r.buffered.Reset(r.content)
	return at, err
}

// readable returns why a file can't be read, as far as that is known without reading it.
func (v *visit) readable(e *nodes.Entry) error {
	if e.Kind != nodes.File {
		return nil
	}
	return v.source.Readable(v.r.Context(), e.ID)
}
