package dctest

import (
	"bytes"
	"fmt"
	iofs "io/fs"
)

// Index is a [datacenter.IndexStore] in memory.
type Index map[string][]byte

// Load implements [datacenter.IndexStore].
func (m Index) Load(key string) ([]byte, error) {
	if b, ok := m[key]; ok {
		return bytes.Clone(b), nil
	}
	return nil, fmt.Errorf("index %s: %w", key, iofs.ErrNotExist)
}

// Save implements [datacenter.IndexStore].
func (m Index) Save(key string, data []byte) error {
	m[key] = bytes.Clone(data)
	return nil
}
