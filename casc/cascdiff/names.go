package cascdiff

import (
	"errors"
	"io"
	"strings"

	"lorefs/casc"
	"lorefs/casc/root"
)

// names are the names in lists of files that differ.
type names struct {
	ids    map[uint32]string
	hashes map[uint64]string
}

// name gives a file without a name that of the lists.
func (n *names) name(f *root.File) {
	if f.Name == "" && f.HasID {
		f.Name = n.ids[f.ID]
	}
	if f.Name == "" && f.HasHash {
		f.Name = n.hashes[f.NameHash]
	}
}

// findNames reads the lists for the files of the part that differ.
func (c *comparison) findNames() error {
	c.names = names{map[uint32]string{}, map[uint64]string{}}
	if len(c.opts.Lists) == 0 {
		return nil
	}
	for _, side := range []struct {
		st      *casc.Storage
		records []record
	}{{c.old, c.before}, {c.now, c.after}} {
		for f, err := range c.walk(side.st) {
			if err != nil {
				return err
			}
			if found, _ := find(side.records, identityOf(&f)); found == nil || f.Name != "" {
				continue
			}
			if f.HasID {
				c.names.ids[f.ID] = ""
			}
			if f.HasHash {
				c.names.hashes[f.NameHash] = ""
			}
		}
	}
	for _, open := range c.opts.Lists {
		if err := c.readList(open); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) readList(open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	for line, err := range root.ListLines(r, func(int, error) {}) {
		if err == nil {
			err = c.ctx.Err()
		}
		if err != nil {
			return errors.Join(err, r.Close())
		}
		if line.HasID {
			if name, wanted := c.names.ids[line.ID]; wanted && name == "" {
				c.names.ids[line.ID] = cleanName(line.Name)
			}
			continue
		}
		if len(c.names.hashes) == 0 {
			continue
		}
		hash := root.NameHash(string(line.Name))
		if name, wanted := c.names.hashes[hash]; wanted && name == "" {
			c.names.hashes[hash] = cleanName(line.Name)
		}
	}
	return r.Close()
}

// CleanName returns a name of a list with slashes only, and none at its beginning, as names of
// roots are.
func cleanName(name []byte) string {
	return strings.TrimLeft(strings.ReplaceAll(string(name), `\`, "/"), "/")
}
