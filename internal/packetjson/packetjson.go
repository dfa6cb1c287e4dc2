// Package packetjson turns packets into JSON and JSON into packets, one by one, each by the
// definition that it names, or that a map has for its code. It takes what a mount of a
// recorded session shows of a packet, and the forms in which people write packets down: hex
// digits, bytes, and JSON with or without what is known of the packet.
//
// decode.go goes from packets to JSON, encode.go back, and values.go reads JSON value by
// value.
package packetjson

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"lorefs/internal/shown"
	"lorefs/protocol"
	"lorefs/protocol/dissect"
)

var (
	// ErrNoName means that there is no map, or none that has the code of a packet.
	ErrNoName = errors.New("no map has a name for the code")
	// ErrNoCode means the same of the name of a packet.
	ErrNoCode = errors.New("no code is there for")
)

// Options say how packets are read.
type Options struct {
	// Table is that of all packets. Without one, Library has those of all names.
	Table   *protocol.Table
	Library *protocol.Library
	// Revision is the client's, by which a map is found, and Patch the game's. Default:
	// what the library says of the revision.
	Revision string
	Patch    protocol.Patch
	// Named and Code go before what packets say. Default: what they say.
	Named Name
	Code  *uint16
	// Writing says that packets are made: not every definition is good for that.
	Writing bool
	// Tell is told of what is odd about maps and definitions.
	Tell func(error) error
}

// Codec decodes and encodes packets.
type Codec struct {
	opts Options
	// names may be nil.
	names *protocol.Map
	// guessed holds the tables of which it was told that they are a guess.
	guessed map[*protocol.Table]bool
}

// New finds the map of the revision.
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

// Name is the name of packets, and how [protocol.Library.Choose] finds their
// definition.
type Name struct{ name, version string }

// ParseName reads NAME, or the name of a definition as [protocol.Table.Name]
// gives it: NAME.VERSION or NAME.VERSION.PLATFORM.
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

// table is the one for packets of a name, where the packet itself says it; else that is
// empty. If it is a guess, that is told once.
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
	if err != nil {
		return nil, err
	}
	return k.opts.Library.Table(i, k.opts.Patch)
}

// codeOf is the code of packets of a definition, for those that do not say.
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
