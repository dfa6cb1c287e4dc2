// Package codec has the flags and the input of decode and encode: how packets in hex or as JSON come in,
// part by part, and which definitions they are of.
package codec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/packetkind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/packetjson"
	"lorefs/internal/source"
	"lorefs/protocol"
)

// Flags are the flags of decode and encode.
type Flags struct {
	options.PacketFlags
	options.Set
	def    string
	Name   string
	code   uint16
	padded bool
	Strict bool
	// Remote is for a recorded session, which may be on another machine.
	Remote options.RemoteFlags
}

// Add adds the flags to those of a command.
func (f *Flags) Add(flags *pflag.FlagSet) {
	f.AddTo(flags, f.Table())
	flags.StringVar(&f.def, "def", "", "`file` with the definition of the packets, instead of --definitions")
	flags.Uint16Var(&f.code, "code", 0, "operation code of the packets (default: their own)")
	flags.BoolVar(&f.padded, "padded", false, "with --def: the packets have a counter and a checksum")
}

// Open opens the definitions that the flags name.
func (f *Flags) Open(c *cobra.Command, writing bool) (*packetjson.Codec, error) {
	if err := f.Settle("", kinds.PacketsName); err != nil {
		return nil, err
	}
	if f.def != "" {
		f.ignoreFolder()
	}
	if err := f.CheckPaths(); err != nil {
		return nil, err
	}
	read, err := f.Parse(&f.Set)
	if err != nil {
		return nil, err
	}
	o := packetjson.Options{
		Revision: read.Revision, Patch: read.Patch, Writing: writing,
		Tell: func(err error) error { return cli.ToldError(c, err) },
	}
	if f.Flags.Changed("code") {
		o.Code = &f.code
	}
	if f.Name != "" {
		if o.Named, err = packetjson.ParseName(f.Name); err != nil {
			return nil, cli.UsageErrorf("--name %v", err)
		}
	}
	if err := f.checkChoice(); err != nil {
		return nil, err
	}
	if f.def != "" {
		o.Table, err = f.readDefinition(o.Patch)
	} else {
		o.Library, err = packetkind.OpenDefinitions(c.Context(), f.Definitions, protocol.LibraryOptions{Codec: f.codecOptions(0), Platform: f.Platform})
	}
	var k *packetjson.Codec
	if err == nil {
		k, err = packetjson.New(o)
	}
	if err != nil {
		return nil, packetkind.UnreadablePackets(f.def+f.Definitions, err)
	}
	return k, nil
}

// ignoreFolder passes over settings that are for a folder of definitions.
func (f *Flags) ignoreFolder() {
	for name, value := range map[string]*string{"definitions": &f.Definitions, "platform": &f.Platform} {
		if f.From[name] != "" {
			*value = ""
		}
	}
}

// checkChoice checks that the flags select one way to read packets.
func (f *Flags) checkChoice() error {
	switch {
	case f.def == "" && f.Definitions == "":
		return cli.UsageErrorf("--definitions FOLDER is missing, or --def FILE: it says how packets are read")
	case f.def != "" && f.Definitions != "":
		return cli.UsageErrorf("--def and --definitions exclude each other: both say how packets are read")
	case f.def != "" && f.Name != "":
		return cli.UsageErrorf("--name goes with --definitions: --def is one definition already")
	case f.def != "" && f.Platform != "":
		return cli.UsageErrorf("--platform goes with --definitions: --def is one definition already")
	case f.Definitions != "" && f.padded:
		return cli.UsageErrorf("--padded goes with --def: the folder of --definitions says which packets are padded")
	}
	return nil
}

func (f *Flags) codecOptions(patch protocol.Patch) protocol.Options {
	return protocol.Options{Patch: patch, Padded: f.padded, Inline: f.Inline, Strict: f.Strict}
}

// readDefinition reads the file of --def. Files that it includes are in the same folder.
func (f *Flags) readDefinition(patch protocol.Patch) (*protocol.Table, error) {
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

// WithHint adds the flag that helps against an error.
func WithHint(err error) error {
	switch {
	case errors.Is(err, packetjson.ErrNoName):
		return fmt.Errorf("%w: --name or --revision helps", err)
	case errors.Is(err, packetjson.ErrNoCode):
		return fmt.Errorf("%w: --code says it, or a map", err)
	}
	return err
}

// maxHexLine is the length of the longest line of hex: the longest packet with spaces
// between its bytes, and what precedes it.
const maxHexLine = 3*protocol.MaxPacket + 1024

// Input gives decode and encode their input, part by part.
type Input struct {
	*bufio.Reader
	io.Closer
	from *pausing
	name string
	// at is the number of the last part: a line, unless values is set.
	at     int
	values bool
}

// pausing is a reader that calls a function before it waits for more, so that what is known is
// printed before that. The function may be nil.
type pausing struct {
	io.Reader
	before func() error
}

func (p *pausing) Read(b []byte) (int, error) {
	if p.before != nil {
		if err := p.before(); err != nil {
			return 0, err
		}
	}
	return p.Reader.Read(b)
}

func newInput(r io.Reader, c io.Closer, name string) *Input {
	from := &pausing{Reader: r}
	return &Input{Reader: bufio.NewReaderSize(from, maxHexLine), Closer: c, from: from, name: name}
}

// place returns the place of the last part, for errors.
func (in *Input) place() string {
	if in.values {
		return fmt.Sprintf("%s: value %d", in.name, in.at)
	}
	return fmt.Sprintf("%s:%d", in.name, in.at)
}

// OpenInput opens the file of an argument, or stdin for - and for no argument.
func OpenInput(c *cobra.Command, args []string) (*Input, error) {
	if err := cli.AtMostArgs(1)(c, args); err != nil {
		return nil, err
	}
	if len(args) == 0 || args[0] == "-" {
		return newInput(c.InOrStdin(), io.NopCloser(nil), "stdin"), nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, kinds.Unreadable(args[0], err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(&cli.Error{Code: cli.ExitSource, Err: fmt.Errorf("%s is a directory: want a file", args[0])}, f.Close())
	}
	return newInput(f, f, args[0]), nil
}

// Head returns the beginning of the input, which shows whether it is one packet as bytes. That
// may be all of it. But it waits for no more if there is a line of text: the next one may come
// only much later. Errors of reading will occur again.
func (in *Input) Head() []byte {
	const most = protocol.MaxPacket + 1
	for n := 1; ; n++ {
		_, err := in.Peek(n)
		n = min(in.Buffered(), most)
		head, _ := in.Peek(n)
		line, _, ended := bytes.Cut(head, []byte("\n"))
		if err != nil || n == most || ended && !bytes.ContainsFunc(line, isControl) {
			return head
		}
	}
}

// isControl reports whether no line of text has a character.
func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\r' }

// Line reads a line. After the last one the error is [io.EOF].
func (in *Input) Line() ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		err = fmt.Errorf("%s:%d: a line of more than %d bytes", in.name, in.at+1, maxHexLine)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// ReadValues returns a function that reads JSON values one by one.
func (in *Input) ReadValues() func() ([]byte, error) {
	in.values = true
	return packetjson.NewValues(in.Reader, in.name).Next
}

// Each reads all parts, and prints what do appends for each, before it waits for more. It
// reports a part that fails, and goes on with the next.
func (in *Input) Each(c *cobra.Command, read func() ([]byte, error), do func(dst, part []byte) ([]byte, error)) error {
	out := bufio.NewWriter(c.OutOrStdout())
	in.from.before = out.Flush
	failed := false
	var dst []byte
	for {
		part, err := read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		in.at++
		if dst, err = do(dst[:0], part); err != nil {
			failed = true
			// Flush first, since both may go to one terminal.
			err = errors.Join(out.Flush(), cli.ToldError(c, WithHint(fmt.Errorf("%s: %w", in.place(), err))))
		} else {
			_, err = out.Write(dst)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil || !failed {
		return err
	}
	return &cli.Error{Code: cli.ExitFailure}
}
