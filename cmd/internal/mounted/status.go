package mounted

import (
	"maps"
	"os"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/fs"
)

// Status describes a mount.
type Status struct {
	Source     string    `json:"source"`
	Mountpoint string    `json:"mountpoint"`
	Kind       string    `json:"kind"`
	PID        int       `json:"pid"`
	Since      time.Time `json:"since"`
	// Problem is why nothing can be read any more, or empty.
	Problem string `json:"problem"`
	// Notices are other news of the source, such as a newer one in its place.
	Notices []string     `json:"notices,omitempty"`
	Views   []kinds.View `json:"views"`
	// Remote counts what was fetched for a source that is on other machines.
	Remote *kinds.RemoteStatus `json:"remote,omitempty"`
	Cache  CacheStatus         `json:"cache"`
	// Editing is null in a read-only mount.
	Editing *EditStatus `json:"editing"`
	// Inodes is the number of nodes that the kernel knows.
	Inodes     int           `json:"inodes"`
	Requests   RequestStatus `json:"requests"`
	Errors     uint64        `json:"errors"`
	LastErrors []ErrorStatus `json:"last_errors"`
}

// EditStatus describes a mount that can be edited.
type EditStatus struct {
	// Pending is the number of edits of the source that are not saved yet, and Journal the
	// file with them.
	Pending int64  `json:"pending"`
	Journal string `json:"journal"`
	// LeftOut lists what a save would not write.
	kinds.LeftOut
	// Patch is the file with the edits as a patch, if another program has written to the
	// source while it was edited. Otherwise it is empty.
	Patch string `json:"patch,omitempty"`
	// Converts is the layout that a save will give the source, or empty if it does not
	// change.
	Converts string `json:"converts,omitempty"`
	// Problem is why the last save failed, or empty.
	Problem string `json:"problem"`
	// Notices tell what was written and is not stored.
	Notices []string `json:"notices,omitempty"`
	// Saving describes the save that runs, or is null.
	Saving *SaveStatus `json:"saving"`
	// Saved is the report of the last save, or null.
	Saved *save.Report `json:"saved"`
	// World is the status of the folder of --world, or nil if it is not edited.
	World *WorldEditStatus `json:"world,omitempty"`
}

// WorldEditStatus is the part of an EditStatus for the folder of --world.
type WorldEditStatus struct {
	Pending int64        `json:"pending"`
	Journal string       `json:"journal"`
	Saved   *save.Report `json:"saved"`
}

func (m *Mount) editing() *EditStatus {
	if m.source.Sessions == nil {
		return nil
	}
	first, reports := m.source.Sessions[0], m.saves.last()
	e := &EditStatus{Pending: first.Pending(), Journal: first.Journal(), Converts: first.Converts(), Saving: m.saves.status()}
	if len(reports) > 0 {
		e.Saved = &reports[0]
	}
	for i, w := range m.source.Sessions[1:] {
		e.World = &WorldEditStatus{Pending: w.Pending(), Journal: w.Journal()}
		if len(reports) > i+1 {
			e.World.Saved = &reports[i+1]
		}
	}
	e.LeftOut = m.source.LeftOut()
	if err := m.saves.problem(); err != nil {
		e.Problem = m.opts.Tell(err)
	}
	e.Notices = first.Notices()
	return e
}

// opened answers what is mounted, and which build of it if there may be a newer one by now.
func (m *Mount) opened() Answer {
	o := m.opts.Opened
	o.Options = maps.Clone(o.Options)
	o.Editable = m.source.Sessions != nil
	if r := m.source.Remote(); r != nil && r.Build != "" {
		o.Options["build"] = []string{r.Build}
	}
	for _, e := range m.source.Sessions {
		o.Unsaved += e.Pending()
	}
	return Answer{Opened: &o, Left: m.source.LeftOut()}
}

// keepPatch writes the edits as a patch if they can't be saved any more.
func (e *EditStatus) keepPatch(sessions []kinds.Session, changed error) {
	for _, s := range sessions {
		if patch := s.KeepPatch(changed); patch != "" {
			e.Patch = patch
		}
	}
}

// CacheStatus describes the cache of blocks.
type CacheStatus struct {
	Budget    int64 `json:"budget"`
	Bytes     int64 `json:"bytes"`
	Hits      int64 `json:"hits"`
	Loads     int64 `json:"loads"`
	Evictions int64 `json:"evictions"`
}

// RequestStatus counts requests of the kernel of each kind.
type RequestStatus struct {
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

// ErrorStatus is a request that failed.
type ErrorStatus struct {
	Time  time.Time `json:"time"`
	Op    string    `json:"op"`
	Path  string    `json:"path"`
	Error string    `json:"error"`
	// Times counts how often the same error occurred, and Time is when it last did.
	Times int `json:"times"`
}

// Status describes the mount.
func (m *Mount) Status() *Status {
	st, cache := m.server.Stats(), m.source.Blocks.Stats()
	s := &Status{
		Source: m.opts.Path, Mountpoint: m.opts.Dir, Kind: m.source.Kind.Name, PID: os.Getpid(), Since: m.since.UTC(),
		Views: m.source.Views, Remote: m.source.Remote(),
		Cache:   CacheStatus{cache.Budget, cache.Bytes, cache.Hits, cache.Loads, cache.Evictions},
		Editing: m.editing(),
		Inodes:  st.Inodes, Requests: requestsOf(st),
		Errors: st.Errors, LastErrors: []ErrorStatus{},
	}
	if err := m.source.Check(); err != nil {
		s.Problem = err.Error()
		s.Editing.keepPatch(m.source.Sessions, err)
	}
	s.Notices = m.source.Notices()
	for _, e := range st.LastErrors {
		s.LastErrors = append(s.LastErrors, ErrorStatus{e.Time.UTC(), e.Op, e.Path, e.Err, e.Times})
	}
	return s
}

func requestsOf(st fs.Stats) RequestStatus {
	return RequestStatus{
		Total: st.Requests, Lookups: st.Lookups, Getattrs: st.Getattrs, Readdirs: st.Readdirs,
		Reads: st.Reads, ReadBytes: st.ReadBytes, Xattrs: st.Xattrs, Forgets: st.Forgets, Primed: st.Primed,
	}
}
