// Package packetjson converts packets to JSON and back, one by one. A packet is read by the
// definition that it names, or by the one that a map has for its code. It can be hex digits,
// bytes, or JSON: its fields alone, or an object as a mount of a recording shows it.
//
// decode.go converts packets to JSON, encode.go converts them back, and values.go splits
// JSON into values.
package packetjson

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"lorefs/cmd/internal/nearest"
	"lorefs/internal/shown"
	"lorefs/protocol"
	"lorefs/protocol/dissect"
)

var (
	// ErrNoName means that no map has the code of a packet.
	ErrNoName = errors.New("no map has a name for the code")
	// ErrNoCode means that no map has the name of a packet.
	ErrNoCode = errors.New("no code is there for")
)

// Options are the options of a Codec.
type Options struct {
	// Table is the definition of all packets. If it is nil, Library has the definitions.
	Table   *protocol.Table
	Library *protocol.Library
	// Revision is the revision of the client, which selects the map. Patch is the version of
	// the game; the default is the one that the library has for the revision.
	Revision string
	Patch    protocol.Patch
	// Named and Code, if they are set, override what packets say.
	Named Name
	Code  *uint16
	// Writing is set for encoding, which refuses some definitions.
	Writing bool
	// Tell is called with remarks about maps and definitions.
	Tell func(error) error
}

// Codec decodes and encodes packets.
type Codec struct {
	opts Options
	// names may be nil.
	names *protocol.Map
	// guessed has the tables that Tell was called for because they are guesses.
	guessed map[*protocol.Table]bool
}

// New returns a Codec. It reads the map of the revision.
func New(o Options) (*Codec, error) {
	k := &Codec{opts: o, guessed: make(map[*protocol.Table]bool)}
	if k.opts.Library == nil {
		return k, nil
	}
	if r, ok := k.opts.Library.Revisions[k.opts.Revision]; ok && k.opts.Patch == 0 {
		k.opts.Patch = r.Patch
	}
	i, ok := k.opts.Library.FindMap("protocol", k.opts.Revision)
	if !ok {
		return k, nil
	}
	var err error
	if k.names, err = k.opts.Library.Map(i); err != nil {
		return nil, err
	}
	return k, k.tellAll(k.names.Wrong)
}

// Name is the name of packets, and selects a definition for [protocol.Library.Choose].
type Name struct{ name, version string }

// ParseName parses NAME, or the name of a definition as [protocol.Table.Name] returns it:
// NAME.VERSION or NAME.VERSION.PLATFORM.
func ParseName(text string) (Name, error) {
	name, version, has := strings.Cut(text, ".")
	if !has {
		return Name{name, "*"}, nil
	}
	if _, ok := protocol.ParseFileName(text + ".def"); !ok {
		return Name{}, fmt.Errorf("%s: want NAME or NAME.VERSION, such as S_CHAT.3", shown.Quote(text))
	}
	return Name{name, version}, nil
}

func (k *Codec) tellAll(list []protocol.Diagnostic) error {
	for _, d := range list {
		if err := k.opts.Tell(errors.New(d.String())); err != nil {
			return err
		}
	}
	return nil
}

// table returns the table for a packet: by the name in the packet if it has one, and else by
// its code. If the table is a guess, it calls Tell once.
func (k *Codec) table(named Name, code uint16) (*protocol.Table, error) {
	t, err := k.find(named, code)
	if err != nil || k.guessed[t] {
		return t, err
	}
	k.guessed[t] = true
	return t, k.tellAll(t.Guessed())
}

func (k *Codec) find(named Name, code uint16) (*protocol.Table, error) {
	if k.opts.Table != nil {
		return k.opts.Table, nil
	}
	if k.opts.Named.name != "" {
		named = k.opts.Named
	}
	if k.opts.Code != nil {
		code = *k.opts.Code
	}
	if named.name == "" {
		named = Name{dissect.NameOf(k.names, code), "*"}
	}
	if named.name == "" {
		return nil, fmt.Errorf("%w %d", ErrNoName, code)
	}
	i, err := k.opts.Library.Choose(named.name, named.version, k.opts.Patch)
	if err == nil && k.opts.Writing {
		err = k.opts.Library.Writable(i, k.opts.Patch)
	}
	if errors.Is(err, protocol.ErrNoDefinition) && k.opts.Named.name != "" {
		if near := k.near(named.name); near != "" && near != named.name {
			err = fmt.Errorf("%w: did you mean %q?", err, near)
		}
	}
	if err != nil {
		return nil, err
	}
	return k.opts.Library.Table(i, k.opts.Patch)
}

// near returns the name of a definition that one that has none is most likely meant to be, or
// nothing.
func (k *Codec) near(name string) string {
	var names []string
	for _, d := range k.opts.Library.Definitions() {
		names = append(names, d.Name)
	}
	return nearest.Name(name, names)
}

// codeOf returns the code for packets of a definition that do not have one themselves.
func (k *Codec) codeOf(t *protocol.Table) (uint16, error) {
	if k.opts.Code != nil {
		return *k.opts.Code, nil
	}
	name, _, _ := strings.Cut(t.Name(), ".")
	if k.names != nil {
		if n, ok := k.names.Number(name); ok && n <= math.MaxUint16 {
			return uint16(n), nil
		}
	}
	return 0, fmt.Errorf("%w %s", ErrNoCode, name)
}
