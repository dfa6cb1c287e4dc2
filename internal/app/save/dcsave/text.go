package dcsave

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/treepath"
)

// keepText writes the edits as text, since they can't be saved in place any more. As long as the
// edited file is open, its edits can still be written to a new file, but this may be the last
// moment: a file that was replaced has no name, and when the process dies no journal can be
// replayed on it. path is empty if there are no edits to keep. The caller holds saving.
func (s *Session) keepText(changed error) (path string, err error) {
	if s.text != "" || s.isRescued || s.draft.Pending() == 0 {
		return s.text, nil
	}
	s.text, err = s.files.KeepText(s.textOf(s.draft.Described(), changed))
	if err != nil {
		return "", fmt.Errorf("what was edited could not be written as text: %w", err)
	}
	s.opts.Logger.Error("the source was changed while it was edited; what was edited is kept as text", "text", s.text, "err", changed)
	return s.text, nil
}

// KeepText is called when the source was seen to have changed. It writes the edits as text and
// returns the path of the text. The path is empty if there is none, or if a save is running, which
// writes the text itself if it has to.
func (s *Session) KeepText(changed error) string {
	if s.isSaving.Load() {
		return ""
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	path, err := s.keepText(changed)
	if err != nil {
		s.opts.Logger.Error("a text of the edits", "err", err)
	}
	return path
}

// textOf returns the text of changes.
func (s *Session) textOf(changes []edit.Change, changed error) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What was edited in %s and could not be saved, %s.\n", strconv.Quote(s.files.Path()), time.Now().Format(time.DateTime))
	fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(changed.Error(), "\n", " "))
	b.WriteString("# @ is a node, @+ one that was made, @- one that was removed, @> one that was moved from where > says.\n" +
		"# - is what the file had, ? where that could not be read any more, and + what it was to have.\n" +
		"# Paths are those below tree/, with the attributes by which each node is known.\n")
	at := ""
	for i := range changes {
		c := &changes[i]
		path := textPath(c.Path)
		switch c.Kind {
		case edit.NodeMade:
			at = path
			fmt.Fprintf(&b, "@+ %s\n", path)
			continue
		case edit.NodeGone:
			at = ""
			fmt.Fprintf(&b, "@- %s\n", path)
			continue
		case edit.NodeMoved:
			at = path
			fmt.Fprintf(&b, "@> %s\n> %s\n", path, textPath(c.From))
			continue
		}
		if at != path {
			at = path
			fmt.Fprintf(&b, "@ %s\n", path)
		}
		writeChange(&b, c)
	}
	return b.Bytes()
}

// writeChange writes a change of a node.
func writeChange(b *bytes.Buffer, c *edit.Change) {
	name := textName(c.Name)
	switch c.Kind {
	case edit.KeysSet:
		fmt.Fprintf(b, "+%%keys %s\n", strconv.Quote(c.Keys.String()))
		return
	case edit.FlagsSet:
		fmt.Fprintf(b, "+%%flags %d\n", c.Flags)
		return
	}
	switch {
	case c.Lost:
		fmt.Fprintf(b, "-%s ?\n", name)
	case c.Old.Type() != 0:
		fmt.Fprintf(b, "-%s %s\n", name, textValue(c.Old))
	}
	if c.New.Type() != 0 {
		fmt.Fprintf(b, "+%s %s\n", name, textValue(c.New))
	}
}

// textPath spells a path as tree/ does, with the marks of each node after its name.
func textPath(path []edit.Step) string {
	if len(path) == 0 {
		return "?"
	}
	var b strings.Builder
	for i, s := range path {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(textName(s.Name))
		if s.Ordinal > 0 {
			fmt.Fprintf(&b, ".%d", s.Ordinal)
		}
		for _, m := range s.Marks {
			fmt.Fprintf(&b, "[@%s=%s]", textName(m.Name), strconv.Quote(m.Value.Text()))
		}
	}
	return b.String()
}

// textName spells a name so that it has no spaces or line breaks outside quotes.
func textName(name string) string {
	name = treepath.Escape(name, 0)
	for _, r := range name {
		if !strconv.IsPrint(r) || r == ' ' {
			return strconv.Quote(name)
		}
	}
	return name
}

func textValue(v datacenter.Value) string {
	if v.Type() == datacenter.String {
		return v.Type().String() + " " + strconv.Quote(v.Text())
	}
	return v.Type().String() + " " + v.Text()
}
