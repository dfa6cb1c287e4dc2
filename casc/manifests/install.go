package manifests

import (
	"fmt"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/cursor"
)

const install format.Name = "install manifest"

// Install is the install manifest: the files that are installed outside the archives.
type Install struct {
	Version int
	Tags    []Tag
	Entries []InstallEntry
}

// InstallEntry is a file to install.
type InstallEntry struct {
	// Name has slashes or backslashes, as in the manifest.
	Name string
	CKey keys.Key
	Size int64
}

// ParseInstall reads an install manifest of version 1 or 2. Version 2, whose header has six
// bytes more, is read by description only. ParseInstall keeps data, which must not be
// changed.
func ParseInstall(data []byte) (*Install, error) {
	c := cursor.New(data)
	magic, version, keySize, tags, entries := c.Bytes(2), c.U8(), c.U8(), c.BE16(), c.BE32()
	if version == 2 {
		c.Bytes(6)
	}
	if err := install.Ends(c, 0); err != nil {
		return nil, err
	}
	if string(magic) != "IN" {
		return nil, install.Bad(0, "found %q instead of %q", magic, "IN")
	}
	if version < 1 || version > 2 || keySize != 16 {
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, install.Bad(2, "version %d with keys of %d bytes", version, keySize))
	}
	const least = 1 + 16 + 4
	if int64(entries) > int64(len(data)/least) {
		return nil, install.Bad(6, "%d entries in %d bytes", entries, len(data))
	}
	m := &Install{Version: int(version), Tags: readTags(c, int(tags), int(entries))}
	for range entries {
		e := InstallEntry{Name: c.String()}
		copy(e.CKey[:], c.Bytes(16))
		e.Size = int64(c.BE32())
		if c.Err() != nil {
			break
		}
		m.Entries = append(m.Entries, e)
	}
	if err := install.Ends(c, 0); err != nil {
		return nil, err
	}
	if c.Left() > 0 {
		return nil, install.Bad(int64(c.Off()), "%d bytes behind the last entry", c.Left())
	}
	return m, nil
}
