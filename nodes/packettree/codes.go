package packettree

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"lorefs/protocol"
)

// code is what is known of the packets of one operation code.
type code struct {
	// name is that of the packet, or the code in digits.
	name string
	// table reads the packets; nil without a definition that can be used.
	table *protocol.Table
	// err is why a definition that is there cannot be used.
	err error
}

// fixedNames are the codes that no revision has changed.
var fixedNames = map[uint16]string{19900: "C_CHECK_VERSION", 19901: "S_CHECK_VERSION"}

// maxName is the longest packet name, so that a file's name stays below 255 bytes.
const maxName = 200

// nameCodes finds the name and the definition of each code that the log has.
func (t *Tree) nameCodes() error {
	t.codes = make(map[uint16]*code)
	names := func(uint16) (string, bool) { return "", false }
	revision := t.log.Info().Revision
	if t.lib != nil {
		if r, ok := t.lib.Revisions[revision]; ok && t.opts.Patch == 0 {
			t.opts.Patch = r.Patch
		}
		if i, ok := t.lib.FindMap("protocol", revision); ok {
			m, err := t.lib.Map(i)
			if err != nil {
				return err
			}
			t.mapFile = m.File
			names = func(c uint16) (string, bool) { return m.Name(uint32(c)) }
		}
	}
	for i := range t.log.Len() {
		c := t.log.Code(i)
		if t.codes[c] != nil {
			continue
		}
		one := &code{}
		name, ok := names(c)
		if !ok {
			name, ok = fixedNames[c], fixedNames[c] != ""
		}
		version := "*"
		if !ok {
			var err error
			if name, version, err = t.loggedName(i); err != nil {
				return err
			}
		}
		if one.name = name; name == "" {
			one.name = strconv.Itoa(int(c))
		}
		t.codes[c] = one
		if err := t.define(one, version); err != nil {
			return err
		}
	}
	return nil
}

// loggedName is the name and the version that the log itself has for packet i,
// empty if it has none that can be used.
func (t *Tree) loggedName(i int) (name, version string, err error) {
	p, err := t.log.Packet(i, nil)
	if err != nil {
		if isDamage(err) {
			err = nil // its own file tells of it
		}
		return "", "*", err
	}
	bad := strings.Trim(strings.ToUpper(p.Name), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || len(p.Name) > maxName
	if bad || strings.Trim(p.Name, "0123456789") == "" {
		return "", "*", nil
	}
	if p.Version > 0 {
		return p.Name, strconv.Itoa(p.Version), nil
	}
	return p.Name, "*", nil
}

// define finds the definition of a code. Only reading errors are returned: a
// definition that is wrong is told by each packet that needs it.
func (t *Tree) define(c *code, version string) error {
	if t.lib == nil {
		return nil
	}
	i, err := t.lib.Choose(c.name, version, t.opts.Patch)
	if errors.Is(err, protocol.ErrNoDefinition) && version != "*" {
		i, err = t.lib.Choose(c.name, "*", t.opts.Patch)
	}
	if errors.Is(err, protocol.ErrNoDefinition) {
		return nil
	}
	if err == nil {
		c.table, err = t.lib.Table(i, t.opts.Patch)
	}
	if _, wrong := errors.AsType[*protocol.SyntaxError](err); wrong {
		c.err = err
		return nil
	}
	return err
}

// mapName is how a map's file is called in the tree.
func mapName(file string) string {
	base := path.Base(file)
	if name, ok := strings.CutSuffix(base, ".map"); ok {
		return name + ".json"
	}
	return base
}
