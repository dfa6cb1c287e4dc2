package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"lorefs/cmd/internal/pattern"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

//go:embed assets
var assets embed.FS

// assetPath is where the files of the page are. No source has a name that begins so.
const assetPath = "/.lorefs/"

var pages = template.Must(template.ParseFS(assets, "assets/*.html"))

const (
	// pageEntries is how many entries a page has.
	pageEntries = 500
	// findMost and findTime bound a search.
	findMost = 500
	findTime = 5 * time.Second
)

// asset answers with a file of the page.
func (s *Site) asset(w http.ResponseWriter, r *http.Request, name string) {
	data, err := assets.ReadFile("assets/" + name)
	mediaType := mime.TypeByExtension(path.Ext(name))
	if err != nil || strings.HasSuffix(name, ".html") {
		refuse(w, http.StatusNotFound, r.URL.Path+": there is no such file")
		return
	}
	w.Header().Set("Content-Type", mediaType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// frame is what all pages have.
type frame struct {
	Source, Title string
	// Base is before the addresses of assets.
	Base   string
	Crumbs []crumb
}

// crumb is a folder on the way to what a page shows.
type crumb struct{ Name, Address string }

func (v *visit) frame() frame {
	f := frame{Source: v.opts.Name, Title: "/" + shown.Text(v.at.Path), Base: v.base}
	f.Crumbs = append(f.Crumbs, crumb{"/", v.address("", nodes.Dir)})
	names := strings.Split(v.at.Path, "/")
	for i, name := range names[:len(names)-1] {
		f.Crumbs = append(f.Crumbs, crumb{shown.Text(name), v.address(strings.Join(names[:i+1], "/"), nodes.Dir)})
	}
	if v.at.Path != "" {
		f.Crumbs = append(f.Crumbs, crumb{shown.Text(names[len(names)-1]), v.address(v.at.Path, v.at.Kind)})
	}
	return f
}

// row is an entry on a page.
type row struct {
	Name, Address, View string
	Kind                string
	Size, Modified      string
	// Target is where a link leads, and Problem why a file can't be read.
	Target, Problem string
}

// folderPage is the page of a folder, or of a search in it.
type folderPage struct {
	frame
	Rows []row
	// Next is the address of the next page, and First that of the first one, if this is another.
	Next, First string
	// Find is what is searched for, Stopped why the search ended before all was seen, and Wrong why it
	// could not begin.
	Find, Stopped, Wrong string
	Info                 string
	// Asks says that the source can be asked by queries. Query and Columns are empty.
	Asks           bool
	Query, Columns string
}

func (v *visit) page() {
	p := folderPage{frame: v.frame(), Asks: v.opts.DataCenter != nil && v.at.Path == ""}
	var err error
	query := v.r.URL.Query()
	if p.Find = query.Get("find"); p.Find != "" {
		err = v.find(&p)
	} else {
		err = v.entriesOf(&p, query.Get("from"))
	}
	if err != nil {
		fail(v.w, err)
		return
	}
	if v.at.Path == "" && p.First == "" && p.Find == "" {
		p.Info = v.opts.Info
	}
	v.render("folder.html", p)
}

// entriesOf takes the entries of a folder from a cursor on, as many as a page has.
func (v *visit) entriesOf(p *folderPage, from string) error {
	cursor, err := strconv.ParseUint(from, 10, 64)
	if from != "" && err != nil {
		return fmt.Errorf("from=%s: want the number of a page's link: %w", from, nodes.ErrNotExist)
	}
	here := v.address(v.at.Path, nodes.Dir)
	if cursor > 0 {
		p.First = here
	}
	last := uint64(0)
	for e, err := range v.entries(cursor) {
		if err != nil {
			return err
		}
		if len(p.Rows) == pageEntries {
			p.Next = here + "?from=" + strconv.FormatUint(last, 10)
			return nil
		}
		p.Rows = append(p.Rows, v.row(path.Join(v.at.Path, e.Name), e.Name, &e))
		last = e.Next
	}
	return nil
}

func (v *visit) row(full, name string, e *nodes.Entry) row {
	r := row{Name: shown.Text(name), Kind: e.Kind.String(), Address: v.address(full, e.Kind)}
	if !e.ModTime.IsZero() {
		r.Modified = e.ModTime.UTC().Format("2006-01-02 15:04")
	}
	switch e.Kind {
	case nodes.File:
		r.View = r.Address + "?view"
		r.Size = strconv.FormatInt(e.Size, 10)
		if err := v.readable(e); err != nil {
			r.Problem = shown.Line(err)
		}
	case nodes.Link:
		target, err := nodes.Readlink(v.r.Context(), v.source.Tree, e.ID)
		if r.Target = shown.Text(target); err != nil {
			r.Problem = shown.Line(err)
		}
	}
	return r
}

// find searches all names below the folder. A text without signs of a pattern may be anywhere in a name.
func (v *visit) find(p *folderPage) error {
	text := p.Find
	if !pattern.Is(text) {
		text = "*" + text + "*"
	}
	wanted, err := pattern.Compile(text, true)
	if err != nil {
		p.Wrong = shown.Line(err)
		return nil
	}
	ctx, stop := context.WithTimeout(v.r.Context(), findTime)
	defer stop()
	seen := 0
	for e, err := range nodes.Walk(ctx, v.source.Tree, v.at.ID) {
		seen++
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			p.Stopped = fmt.Sprintf("after %v, %d names", findTime, seen)
			return nil
		case err != nil:
			return err
		case len(p.Rows) == findMost:
			p.Stopped = fmt.Sprintf("at the first %d", findMost)
			return nil
		case wanted.Match(e.Name):
			p.Rows = append(p.Rows, v.row(path.Join(v.at.Path, e.Path), e.Path, &e.Entry))
		}
	}
	return nil
}

// render answers with a page. What fails on the way is told in place of it.
func (v *visit) render(name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		fail(v.w, err)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	if v.r.Method == http.MethodHead {
		return
	}
	_, _ = io.Copy(v.w, &b) // the client may have gone
}
