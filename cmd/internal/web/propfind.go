package web

import (
	"bufio"
	"encoding/xml"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lorefs/internal/shown"
	"lorefs/nodes"
)

// finiteDepth is the answer to a PROPFIND of a whole tree, see RFC 4918, 9.1.
const finiteDepth = xml.Header + `<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>` + "\n"

// answerBuffer is how much of a listing is sent at once.
const answerBuffer = 64 << 10

// propfind answers with the properties of an entry and, with depth 1, of those in it.
func (v *visit) propfind() {
	depth := v.r.Header.Get("Depth")
	if depth != "0" && depth != "1" { // none stands for infinity
		v.w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		v.w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(v.w, finiteDepth)
		return
	}
	wanted, err := parsePropfind(http.MaxBytesReader(v.w, v.r.Body, maxPropfind))
	if err != nil {
		refuse(v.w, http.StatusBadRequest, shown.Line(err))
		return
	}
	if !v.takeTurn() {
		return
	}
	defer v.listings.Release(1)
	v.w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	v.w.WriteHeader(http.StatusMultiStatus)
	a := multistatus{visit: v, out: bufio.NewWriterSize(v.w, answerBuffer), wanted: wanted}
	a.write(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<D:multistatus xmlns:D="DAV:">` + "\n")
	a.response(v.at.Path, &v.at.Entry)
	if depth == "1" && v.at.Kind == nodes.Dir {
		if err := a.entries(); err != nil {
			v.breakOff(err)
		}
	}
	a.write("</D:multistatus>\n")
	_ = a.out.Flush() // the client may have gone
}

// breakOff ends an answer that has begun, so that the client sees that it is not whole.
func (v *visit) breakOff(err error) {
	if v.r.Context().Err() == nil {
		v.opts.Logger.Warn("an answer was broken off", "path", v.at.Path, "err", err)
	}
	panic(http.ErrAbortHandler)
}

// multistatus is the answer to a PROPFIND while it is written.
type multistatus struct {
	*visit
	out    *bufio.Writer
	wanted propfind
}

// write writes text. A client that has gone ends the listing by the context of its request.
func (a *multistatus) write(text string) { _, _ = a.out.WriteString(text) }

// entries writes the entries of a folder, but no links.
func (a *multistatus) entries() error {
	prefix := ""
	if a.at.Path != "" {
		prefix = a.at.Path + "/"
	}
	ctx := a.r.Context()
	for e, err := range a.source.Tree.ReadDir(ctx, a.at.ID, 0) {
		if err != nil {
			return err
		}
		if e.Kind == nodes.Link {
			continue
		}
		if e, err = nodes.WithSize(ctx, a.source.Tree, e); err != nil {
			return err
		}
		if e.ModTime.IsZero() {
			e.ModTime = a.at.ModTime
		}
		a.response(prefix+e.Name, &e)
	}
	return nil
}

// davProps are the properties that there are, in the order in which they are told.
var davProps = []string{"resourcetype", "displayname", "getlastmodified", "getcontentlength", "getcontenttype", "getetag"}

// response writes the properties of one entry.
func (a *multistatus) response(path string, e *nodes.Entry) {
	a.write("<D:response><D:href>" + escapeXML(a.address(path, e.Kind)) + "</D:href>")
	props, unknown := davProps, []xml.Name(nil)
	if a.wanted.props != nil {
		props, unknown = nil, nil
		for _, name := range a.wanted.props {
			if _, ok := a.value(name.Local, e); ok && name.Space == davSpace {
				props = append(props, name.Local)
			} else {
				unknown = append(unknown, name)
			}
		}
	}
	a.found(props, e)
	a.lacking(unknown)
	a.write("</D:response>\n")
}

// found writes the properties that an entry has.
func (a *multistatus) found(props []string, e *nodes.Entry) {
	if len(props) == 0 && a.wanted.props != nil {
		return
	}
	a.write("<D:propstat><D:prop>")
	for _, name := range props {
		value, ok := a.value(name, e)
		switch {
		case !ok:
		case value == "" || a.wanted.names:
			a.write("<D:" + name + "/>")
		default:
			a.write("<D:" + name + ">" + value + "</D:" + name + ">")
		}
	}
	a.write("</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>")
}

// lacking writes the properties that were asked for in vain.
func (a *multistatus) lacking(props []xml.Name) {
	if len(props) == 0 {
		return
	}
	a.write("<D:propstat><D:prop>")
	for _, name := range props {
		a.write("<n:" + name.Local + ` xmlns:n="` + escapeXML(name.Space) + `"/>`)
	}
	a.write("</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>")
}

// value returns a property of an entry as XML.
func (a *multistatus) value(name string, e *nodes.Entry) (text string, ok bool) {
	file := e.Kind == nodes.File
	switch name {
	case "resourcetype":
		if file {
			return "", true
		}
		return "<D:collection/>", true
	case "displayname":
		return escapeXML(e.Name), true
	case "getlastmodified":
		return e.ModTime.UTC().Format(http.TimeFormat), !e.ModTime.Equal(time.Time{})
	case "getcontentlength":
		return strconv.FormatInt(e.Size, 10), file
	case "getcontenttype":
		mediaType, _ := typeOf(e.Name)
		return escapeXML(mediaType), file
	case "getetag":
		if !file {
			return "", false
		}
		return escapeXML(a.etag(e)), true
	}
	return "", false
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder doesn't fail
	return b.String()
}
