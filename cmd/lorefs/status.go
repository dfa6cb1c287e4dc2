package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lorefs/fs"
	"lorefs/internal/daemon"
	"lorefs/internal/save"
	"lorefs/internal/shown"
)

// status is what a mount tells of itself.
type status struct {
	Source     string    `json:"source"`
	Mountpoint string    `json:"mountpoint"`
	Kind       string    `json:"kind"`
	PID        int       `json:"pid"`
	Since      time.Time `json:"since"`
	// Problem is why nothing can be read any more, or empty.
	Problem string `json:"problem"`
	// Notices are what else is to be known of the source, such as that there is a newer
	// one in its place.
	Notices []string    `json:"notices,omitempty"`
	Views   []view      `json:"views"`
	Cache   cacheStatus `json:"cache"`
	// Editing is null in a read-only mount.
	Editing *editStatus `json:"editing"`
	// Inodes is how many the kernel knows.
	Inodes     int           `json:"inodes"`
	Requests   requestStatus `json:"requests"`
	Errors     uint64        `json:"errors"`
	LastErrors []errorStatus `json:"last_errors"`
}

// editStatus tells of a mount that can be edited.
type editStatus struct {
	// Pending is how many edits of the source are not saved yet, Journal where they are.
	Pending int64  `json:"pending"`
	Journal string `json:"journal"`
	// What will not be saved.
	leftOut
	// Text is the file that has the edits as text, as the source was written over while it
	// was edited, empty for none.
	Text string `json:"text,omitempty"`
	// Converts is the layout that the source will have, empty if it stays.
	Converts string `json:"converts,omitempty"`
	// Problem is why the last save failed, or empty.
	Problem string `json:"problem"`
	// Notices are what is not stored of what was written.
	Notices []string `json:"notices,omitempty"`
	// Saved is what the last save did, null if there was none.
	Saved *save.Report `json:"saved"`
	// World is what of that concerns the folder of --world, nil if it is not edited.
	World *worldEditStatus `json:"world,omitempty"`
}

// worldEditStatus tells of the folder of --world what editStatus does of the source.
type worldEditStatus struct {
	Pending int64        `json:"pending"`
	Journal string       `json:"journal"`
	Saved   *save.Report `json:"saved"`
}

func (m *mounting) editStatus() *editStatus {
	if m.opened.editors == nil {
		return nil
	}
	first, reports := m.opened.editors[0], m.saves.last()
	e := &editStatus{Pending: first.pending(), Journal: first.journal(), Converts: first.converts()}
	if len(reports) > 0 {
		e.Saved = &reports[0]
	}
	for i, w := range m.opened.editors[1:] {
		e.World = &worldEditStatus{Pending: w.pending(), Journal: w.journal()}
		if len(reports) > i+1 {
			e.World.Saved = &reports[i+1]
		}
	}
	e.leftOut = m.opened.leftOut()
	if err := m.saves.problem(); err != nil {
		e.Problem = errorText(err)
	}
	if n, ok := first.(interface{ notices() []string }); ok {
		e.Notices = n.notices()
	}
	return e
}

// keepText has editors keep their edits as text that can't be saved any more.
func (e *editStatus) keepText(editors []sourceEditor, changed error) {
	for _, editor := range editors {
		if k, ok := editor.(interface{ keepText(changed error) string }); ok {
			e.Text = k.keepText(changed)
		}
	}
}

// print writes what concerns editing.
func (e *editStatus) print(w io.Writer) {
	shown.Fprintf(w, "edits\t%d to be saved\n", e.Pending)
	if e.Journal != "" {
		shown.Fprintf(w, "journal\t%s\n", e.Journal)
	}
	if e.Text != "" {
		shown.Fprintf(w, "as text\t%s\n", e.Text)
	}
	if e.World != nil {
		shown.Fprintf(w, "edits of %s\t%d to be saved\n", worldName, e.World.Pending)
		if e.World.Journal != "" {
			shown.Fprintf(w, "journal\t%s\n", e.World.Journal)
		}
	}
	if e.Converts != "" {
		shown.Fprintf(w, "layout\twill be %s\n", e.Converts)
	}
	e.printFiles(w, "\t")
	if e.Problem != "" {
		shown.Fprintf(w, "not saved\t%s\n", e.Problem)
	}
	for _, n := range e.Notices {
		shown.Fprintf(w, "not stored\t%s\n", n)
	}
}

type cacheStatus struct {
	Budget    int64 `json:"budget"`
	Bytes     int64 `json:"bytes"`
	Hits      int64 `json:"hits"`
	Loads     int64 `json:"loads"`
	Evictions int64 `json:"evictions"`
}

type requestStatus struct {
	Total     uint64 `json:"total"`
	Lookups   uint64 `json:"lookups"`
	Getattrs  uint64 `json:"getattrs"`
	Readdirs  uint64 `json:"readdirs"`
	Reads     uint64 `json:"reads"`
	ReadBytes uint64 `json:"read_bytes"`
	Xattrs    uint64 `json:"xattrs"`
	Forgets   uint64 `json:"forgets"`
	Primed    uint64 `json:"primed"`
}

type errorStatus struct {
	Time  time.Time `json:"time"`
	Op    string    `json:"op"`
	Path  string    `json:"path"`
	Error string    `json:"error"`
	// Times is how often the same happened, Time when it did last.
	Times int `json:"times"`
}

func (e errorStatus) String() string {
	text := e.Time.Local().Format(time.DateTime) + " " + e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	text += ": " + e.Error
	if e.Times > 1 {
		text += fmt.Sprintf(" (%d times)", e.Times)
	}
	return text
}

func (m *mounting) status() *status {
	st, cache := m.server.Stats(), m.opened.blocks.Stats()
	s := &status{
		Source: m.source, Mountpoint: m.dir, Kind: m.opened.kind, PID: os.Getpid(), Since: m.since.UTC(),
		Views:   m.opened.views,
		Cache:   cacheStatus{cache.Budget, cache.Bytes, cache.Hits, cache.Loads, cache.Evictions},
		Editing: m.editStatus(),
		Inodes:  st.Inodes, Requests: requestsOf(st),
		Errors: st.Errors, LastErrors: []errorStatus{},
	}
	if err := m.opened.check(); err != nil {
		s.Problem = err.Error()
		s.Editing.keepText(m.opened.editors, err)
	}
	if n, ok := m.opened.archive.(interface{ notices() []string }); ok {
		s.Notices = n.notices()
	}
	for _, e := range st.LastErrors {
		s.LastErrors = append(s.LastErrors, errorStatus{e.Time.UTC(), e.Op, e.Path, e.Err, e.Times})
	}
	return s
}

func requestsOf(st fs.Stats) requestStatus {
	return requestStatus{
		Total: st.Requests, Lookups: st.Lookups, Getattrs: st.Getattrs, Readdirs: st.Readdirs,
		Reads: st.Reads, ReadBytes: st.ReadBytes, Xattrs: st.Xattrs, Forgets: st.Forgets, Primed: st.Primed,
	}
}

func newStatus() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "status MOUNTPOINT",
		Short: "show what a mount does",
		Args:  exactArgs("MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := askStatus(args[0])
			if err != nil {
				return err
			}
			if !asJSON {
				return s.print(c.OutOrStdout())
			}
			return jsonDocument(c.OutOrStdout()).Encode(s)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func askStatus(dir string) (*status, error) {
	name, err := daemon.Name(dir)
	if err != nil {
		return nil, err
	}
	a, conn, err := talk(name, daemon.Request{Do: daemon.Status})
	if errors.Is(err, daemon.ErrNone) {
		return nil, absent(dir, name)
	}
	if err != nil {
		return nil, err
	}
	if a.Error != "" || a.Status == nil {
		err = fmt.Errorf("%s: %s", dir, a.Error)
	}
	return a.Status, errors.Join(err, conn.Close())
}

// absent says what is on a mount point that no process of ours serves.
func absent(dir, name string) error {
	switch there, err := daemon.StateOf(name); {
	case err != nil:
		return fmt.Errorf("%s: %w", dir, err)
	case there == daemon.Dead:
		return &commandError{
			code: exitFailure, err: fmt.Errorf("%s: the process that served it is dead", dir),
			hint: "lorefs unmount cleans up",
		}
	case there == daemon.Silent:
		return &commandError{
			code: exitFailure, err: fmt.Errorf("%s: the mount does not answer, and no process that could be asked serves it", dir),
			hint: "lorefs unmount cleans up",
		}
	case there == daemon.Alive:
		return errOthers(dir)
	}
	return nothingThere(dir, name)
}

// nothingThere says that a directory is no mount point, and which mount it is in.
func nothingThere(dir, name string) error {
	err := fmt.Errorf("%s: lorefs has mounted nothing there", dir)
	for up := filepath.Dir(name); up != filepath.Dir(up); up = filepath.Dir(up) {
		if ours, mountErr := daemon.Mounted(up); mountErr == nil && ours {
			return &commandError{code: exitFailure, err: err, hint: "it is inside of the mount on " + up}
		}
	}
	return err
}

// print writes the status for people.
func (s *status) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if s.Editing != nil {
		s.Editing.printTexts(t, "\t")
	}
	shown.Fprintf(t, "source\t%s\n", s.Source)
	shown.Fprintf(t, "mount point\t%s\n", s.Mountpoint)
	shown.Fprintf(t, "process\t%d, since %s\n", s.PID, s.Since.Local().Format(time.DateTime))
	if s.Problem != "" {
		shown.Fprintf(t, "problem\t%s\n", s.Problem)
	}
	for _, n := range s.Notices {
		shown.Fprintf(t, "notice\t%s\n", n)
	}
	for _, v := range s.Views {
		shown.Fprintf(t, "%s/\t%s\n", v.Name, plural(v.Nodes, "node"))
	}
	if s.Editing != nil {
		s.Editing.print(t)
	}
	shown.Fprintf(t, "cache\t%d of %d bytes, %d hits, %d loads, %d evictions\n",
		s.Cache.Bytes, s.Cache.Budget, s.Cache.Hits, s.Cache.Loads, s.Cache.Evictions)
	shown.Fprintf(t, "inodes\t%d\n", s.Inodes)
	r := s.Requests
	shown.Fprintf(t, "requests\t%d: %d lookups, %d getattrs, %d readdirs, %d reads, %d xattrs\n",
		r.Total, r.Lookups, r.Getattrs, r.Readdirs, r.Reads, r.Xattrs)
	shown.Fprintf(t, "errors\t%d\n", s.Errors)
	for _, e := range s.LastErrors {
		shown.Fprintf(t, "\t%s\n", e)
	}
	return t.Flush()
}
