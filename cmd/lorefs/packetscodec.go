package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/internal/source"
	"lorefs/protocol"
	"lorefs/protocol/dissect"
)

// codecFlags are the flags of decode and encode.
type codecFlags struct {
	packetFlags
	optionSet
	def    string
	name   string
	code   uint16
	padded bool
	strict bool
}

func (f *codecFlags) add(flags *pflag.FlagSet) {
	f.addTo(flags, f.table())
	flags.StringVar(&f.def, "def", "", "`file` with the definition of the packets, instead of --definitions")
	flags.StringVar(&f.name, "name", "", "NAME or NAME.VERSION of the packets")
	flags.Uint16Var(&f.code, "code", 0, "operation code of the packets (default: what they say)")
	flags.BoolVar(&f.padded, "padded", false, "with --def: the packets have a counter and a checksum")
}

// codec finds the definition of each packet.
type codec struct {
	// one is that of --def, else nil.
	one *protocol.Table
	// lib is nil with --def. names may be nil.
	lib   *protocol.Library
	names *protocol.Map
	patch protocol.Patch

	named   packetName // by --name
	code    uint16     // of --code
	hasCode bool
	// writing says that packets are made: not every definition is good for that.
	writing bool

	// tell prints a remark. guessed holds the tables of which it was told that they are
	// a guess.
	tell    func(error) error
	guessed map[*protocol.Table]bool
}

func (f *codecFlags) codec(c *cobra.Command) (*codec, error) {
	k := &codec{code: f.code, hasCode: f.flags.Changed("code"), guessed: make(map[*protocol.Table]bool)}
	k.tell = func(err error) error { return toldError(c, err) }
	opts, err := f.parse()
	if err != nil {
		return nil, err
	}
	k.patch = opts.Patch
	if f.name != "" {
		if k.named, err = parsePacketName(f.name); err != nil {
			return nil, usageErrorf("--name %v", err)
		}
	}
	switch {
	case (f.def == "") == (f.definitions == ""):
		return nil, usageErrorf("--def or --definitions has to say how packets are read, and not both")
	case f.def != "" && f.name != "":
		return nil, usageErrorf("--name goes with --definitions: --def is one definition already")
	case f.def != "" && f.platform != "":
		return nil, usageErrorf("--platform goes with --definitions: --def is one definition already")
	case f.definitions != "" && f.padded:
		return nil, usageErrorf("--padded goes with --def: the folder of --definitions says which packets are padded")
	case f.def != "":
		k.one, err = f.readDefinition(k.patch)
	default:
		err = f.openLibrary(k)
	}
	if err != nil {
		return nil, kinds.UnreadablePackets(f.def+f.definitions, err)
	}
	return k, nil
}

func (f *codecFlags) codecOptions(patch protocol.Patch) protocol.Options {
	return protocol.Options{Patch: patch, Padded: f.padded, Inline: f.inline, Strict: f.strict}
}

// packetName is the name of packets, and how [protocol.Library.Choose] finds their
// definition.
type packetName struct{ name, version string }

// parsePacketName reads NAME, or the name of a definition as [protocol.Table.Name]
// gives it: NAME.VERSION or NAME.VERSION.PLATFORM.
func parsePacketName(text string) (packetName, error) {
	name, version, has := strings.Cut(text, ".")
	if !has {
		return packetName{name, "*"}, nil
	}
	if _, ok := protocol.ParseFileName(text + ".def"); !ok {
		return packetName{}, fmt.Errorf("%s: want NAME or NAME.VERSION, such as S_CHAT.3", shown.Quote(text))
	}
	return packetName{name, version}, nil
}

// readDefinition reads the file of --def. What it includes lies beside it.
func (f *codecFlags) readDefinition(patch protocol.Patch) (*protocol.Table, error) {
	folder, err := source.OpenFolder(filepath.Dir(f.def))
	var def *protocol.Definition
	if err == nil {
		def, err = protocol.ReadDefinition(folder, filepath.Base(f.def))
	}
	if err != nil {
		return nil, kinds.Unreadable(f.def, err)
	}
	return protocol.Compile(def, f.codecOptions(patch))
}

// openLibrary opens the folder of --definitions and finds the map.
func (f *codecFlags) openLibrary(k *codec) (err error) {
	if _, k.lib, err = kinds.OpenDefinitions(f.definitions, protocol.LibraryOptions{Codec: f.codecOptions(0), Platform: f.platform}); err != nil {
		return err
	}
	if r, ok := k.lib.Revisions[f.revision]; ok && k.patch == 0 {
		k.patch = r.Patch
	}
	if i, ok := k.lib.FindMap("protocol", f.revision); ok {
		if k.names, err = k.lib.Map(i); err != nil {
			return err
		}
		return k.tellAll(k.names.Wrong)
	}
	return nil
}

func (k *codec) tellAll(list []protocol.Diagnostic) error {
	for _, d := range list {
		if err := k.tell(errors.New(d.String())); err != nil {
			return err
		}
	}
	return nil
}

// errNoDefinition is the error of a packet of which nothing is known.
func errNoDefinition(code uint16) error {
	return fmt.Errorf("no map has a name for the code %d: --name or --revision helps", code)
}

// table is the one for packets of a name, where the packet itself says it; else that is
// empty. If it is a guess, that is told once.
func (k *codec) table(named packetName, code uint16) (*protocol.Table, error) {
	t, err := k.find(named, code)
	if err != nil || k.guessed[t] {
		return t, err
	}
	k.guessed[t] = true
	return t, k.tellAll(t.Guessed())
}

func (k *codec) find(named packetName, code uint16) (*protocol.Table, error) {
	if k.one != nil {
		return k.one, nil
	}
	if k.named.name != "" {
		named = k.named
	}
	if k.hasCode {
		code = k.code
	}
	if named.name == "" {
		named = packetName{dissect.NameOf(k.names, code), "*"}
	}
	if named.name == "" {
		return nil, errNoDefinition(code)
	}
	i, err := k.lib.Choose(named.name, named.version, k.patch)
	if err == nil && k.writing {
		err = k.lib.Writable(i, k.patch)
	}
	if err != nil {
		return nil, err
	}
	return k.lib.Table(i, k.patch)
}

// codeOf is the code of packets of a definition, for those that do not say.
func (k *codec) codeOf(t *protocol.Table) (uint16, error) {
	if k.hasCode {
		return k.code, nil
	}
	name, _, _ := strings.Cut(t.Name(), ".")
	if k.names != nil {
		if n, ok := k.names.Number(name); ok && n <= math.MaxUint16 {
			return uint16(n), nil
		}
	}
	return 0, fmt.Errorf("no code is there for %s: --code says it, or a map", name)
}
