package dcsave

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter/patch"
)

// keepPatch writes the edits as a patch, since they can't be saved in place any more. As long as
// the edited file is open, its edits can still be written to a new file, but this may be the last
// moment: a file that was replaced has no name, and when the process dies no journal can be
// replayed on it. path is empty if there are no edits to keep. The caller holds saving.
func (s *Session) keepPatch(changed error) (path string, err error) {
	if s.patch != "" || s.isRescued || s.draft.Pending() == 0 {
		return s.patch, nil
	}
	p, err := s.patchOf()
	if err == nil {
		s.patch, err = s.files.KeepPatch(keptPatch(p, s.files.Path(), changed))
	}
	if err != nil {
		return "", fmt.Errorf("what was edited could not be written as a patch: %w", err)
	}
	s.opts.Logger.Error("the source was changed while it was edited; what was edited is kept as a patch", "patch", s.patch, "err", changed)
	return s.patch, nil
}

// KeepPatch is called when the source was seen to have changed. It writes the edits as a patch and
// returns its path. The path is empty if there is none, or if a save is running, which writes the
// patch itself if it has to.
func (s *Session) KeepPatch(changed error) string {
	if s.isSaving.Load() {
		return ""
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	path, err := s.keepPatch(changed)
	if err != nil {
		s.opts.Logger.Error("a patch of the edits", "err", err)
	}
	return path
}

// patchOf makes a patch of the edits. It needs what surrounds them in the file, which may still be
// in memory; else the copy that was kept has it.
func (s *Session) patchOf() (*patch.Patch, error) {
	name := filepath.Base(s.files.Path())
	if p, err := makePatch(s.draft, name); err == nil {
		return p, nil
	}
	j, err := save.Kinds{Kind}.Find(s.files.Path())
	if err != nil {
		return nil, err
	}
	base := j.Base()
	if base == "" {
		return nil, j.LackError()
	}
	return patchOf(&j, base, s.opts.Keys, name)
}

// keptPatch returns the text of a patch of the edits of a file, and why it was written.
func keptPatch(p *patch.Patch, file string, why error) []byte {
	p.Header = append(p.Header,
		patch.Field{Name: "edited", Text: oneLine(file)},
		patch.Field{Name: "kept", Text: time.Now().Format(time.DateTime)},
		patch.Field{Name: "because", Text: oneLine(why.Error())})
	return p.Append(nil)
}

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// patchStale makes the patch of a journal that can't be replayed any more, see [save.Options].
func (s *Session) patchStale(j *save.Journal, base string, why error) ([]byte, error) {
	p, err := patchOf(j, base, s.opts.Keys, filepath.Base(j.Source))
	if err != nil || len(p.Blocks) == 0 {
		return nil, err
	}
	return keptPatch(p, j.Source, why), nil
}
