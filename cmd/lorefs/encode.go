package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"lorefs/internal/shown"
	"lorefs/protocol"
)

func newEncode() *cobra.Command {
	var f codecFlags
	c := &cobra.Command{
		Use:   "encode [FILE | -]",
		Short: "turn JSON into packets",
		Long: `encode reads packets as JSON, one object behind the other, and prints each as a line
of hex digits. It reads what decode prints, and the files of a mounted session. Members
that are missing in data are zero. Without FILE it reads stdin.

The definition is that of --def, or one of --definitions: that of --name, else the one
that the object names as definition, else that of its name, else that of its code by the
map of --revision. A packet without a code gets that of --code, else the map's. encode
refuses a definition if deprecated.json says that it is not good for --game-patch.

A packet that can't be encoded is skipped; the exit code is 1 then.`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			k, err := f.codec(c)
			if err != nil {
				return err
			}
			k.writing = true
			in, err := openInput(c, args)
			if err != nil {
				return err
			}
			defer in.Close()
			return in.each(c, in.readValues(), k.encode)
		},
	}
	f.add(c.Flags())
	return c
}

func atMostOne(c *cobra.Command, args []string) error { return atMostArgs(1)(c, args) }

// readValues reads JSON value by value, whatever the space between them. A mistake in the
// JSON itself ends it, as there is no telling where the next value begins.
func (in *input) readValues() func() ([]byte, error) {
	in.values = true
	lines := &lineCounter{r: in.Reader}
	dec := json.NewDecoder(lines)
	return func() ([]byte, error) {
		lines.forget(dec.InputOffset())
		var value json.RawMessage
		err := dec.Decode(&value)
		if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
			err = fmt.Errorf("%s:%d: this is not JSON: %w", in.name, lines.line(wrong.Offset-1), err)
		} else if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%s:%d: the file ends within a value", in.name, lines.line(lines.read-1))
		} else if err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s:%d: %w", in.name, lines.line(lines.start), err)
		}
		return value, err
	}
}

// maxValue is the longest value that is read: a packet with what is known of it.
const maxValue = protocol.MaxJSON + 1<<10

// lineCounter counts the lines of what is read through it, and bounds values.
type lineCounter struct {
	r io.Reader
	// start is where the value begins that is being read.
	start int64
	// read is how much was read, and ends are the offsets behind each end of a line in it,
	// but for those that were forgotten.
	read      int64
	ends      []int64
	forgotten int
}

func (l *lineCounter) Read(p []byte) (int, error) {
	left := maxValue - (l.read - l.start)
	if left <= 0 {
		return 0, fmt.Errorf("a value of more than %d bytes: no packet needs as much", maxValue)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), left)])
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i)+1)
		}
	}
	l.read += int64(n)
	return n, err
}

// before is how many ends of lines there are up to an offset, without the forgotten ones.
func (l *lineCounter) before(off int64) int {
	n, _ := slices.BinarySearch(l.ends, off+1)
	return n
}

// forget keeps what lies before an offset, where a value begins, only as a number.
func (l *lineCounter) forget(off int64) {
	n := l.before(off)
	l.ends = slices.Delete(l.ends, 0, n)
	l.forgotten += n
	l.start = off
}

// line is the number of the line that an offset is in, from 1.
func (l *lineCounter) line(off int64) int { return l.forgotten + l.before(off) + 1 }

// envelopeKeys are the members of a packet with what is known of it, as decode and a
// mount show it. It has packet, or hex for one that nobody could decode.
var envelopeKeys = []string{"number", "time", "from", "fake", "name", "definition", "packet", "error", "hex"}

// encode appends a packet as a line of hex digits.
func (k *codec) encode(dst, value []byte) ([]byte, error) {
	members, err := objectMembers(value)
	if err != nil {
		return dst, err
	}
	_, decoded := members["packet"]
	_, raw := members["hex"]
	if !decoded && !raw {
		return k.appendEncoded(dst, packetName{}, value, members)
	}
	if decoded && raw {
		return dst, errors.New("packet and hex are both there: want one of them")
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(envelopeKeys, key) {
			return dst, fmt.Errorf("there is no member %s beside packet or hex", shown.Quote(key))
		}
	}
	if raw {
		return appendRaw(dst, members["hex"])
	}
	named, err := namedBy(members)
	if err != nil {
		return dst, err
	}
	packet := members["packet"]
	if members, err = objectMembers(packet); err != nil {
		return dst, err
	}
	return k.appendEncoded(dst, named, packet, members)
}

// objectMembers gives the members of an object. One that is there twice is an error:
// nobody knows which one counts.
func objectMembers(value []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want a packet, which is an object")
	}
	members := make(map[string]json.RawMessage)
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("want a packet: %w", err)
		}
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("%s is there twice", shown.Quote(name))
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("want a packet: %w", err)
		}
		members[name] = v
	}
	return members, nil
}

func appendRaw(dst, digits []byte) ([]byte, error) {
	var text string
	if err := json.Unmarshal(digits, &text); err != nil {
		return dst, fmt.Errorf("the member hex: %w", err)
	}
	packet, err := hex.DecodeString(text)
	if err != nil {
		return dst, fmt.Errorf("the member hex: %w", err)
	}
	return appendHexLine(dst, packet), nil
}

// namedBy is what an object says of its definition: which one it is, or just the name of
// the packet. It may say nothing.
func namedBy(members map[string]json.RawMessage) (named packetName, err error) {
	for _, key := range []string{"definition", "name"} {
		value, ok := members[key]
		if !ok {
			continue
		}
		var text string
		if err = json.Unmarshal(value, &text); err == nil {
			named, err = parsePacketName(text)
		}
		if err != nil {
			err = fmt.Errorf("the member %s: %w", key, err)
		}
		break
	}
	return named, err
}

// appendEncoded appends the packet that value is, with its members.
func (k *codec) appendEncoded(dst []byte, named packetName, value []byte, members map[string]json.RawMessage) ([]byte, error) {
	var code *uint16
	if text, ok := members["code"]; ok {
		if err := json.Unmarshal(text, &code); err != nil {
			return dst, fmt.Errorf("want a code of 0 to 65535: %w", err)
		}
	}
	packet, err := k.encodePacket(named, code, value)
	return appendHexLine(dst, packet), err
}

func appendHexLine(dst, packet []byte) []byte {
	return append(hex.AppendEncode(dst, packet), '\n')
}

func (k *codec) encodePacket(named packetName, code *uint16, value []byte) ([]byte, error) {
	known := uint16(0)
	if code != nil {
		known = *code
	}
	table, err := k.table(named, known)
	if err != nil {
		return nil, err
	}
	m, err := table.ParseJSON(value)
	if err != nil {
		return nil, err
	}
	if code == nil {
		if m.Code, err = k.codeOf(table); err != nil {
			return nil, err
		}
	}
	return encodeMessage(table, m)
}

// encodeMessage says what helps against a layout that no longer fits.
func encodeMessage(table *protocol.Table, m *protocol.Message) ([]byte, error) {
	packet, err := table.Encode(m)
	if errors.Is(err, protocol.ErrLayout) {
		err = fmt.Errorf("%w (without the member layout it can be encoded)", err)
	}
	return packet, err
}
