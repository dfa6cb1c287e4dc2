package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/protocol"
	"lorefs/protocol/capture"
)

func newDecode() *cobra.Command {
	var f codecFlags
	c := &cobra.Command{
		Use:   "decode [HEX | FILE | -]",
		Short: "turn packets into JSON",
		Long: `decode reads packets, header included, as hex digits, and prints each as a line of
JSON, which encode turns into the same bytes again. HEX is one packet. FILE has one in
each line, or is one packet as bytes, as a mount shows it. Without an argument, or with -,
decode reads lines from stdin. Spaces between the digits are ignored.

The definition is that of --def, or one of --definitions: that of --name, else of the
name before the digits, else of the packet's code by the map of --revision.
With --definitions, each packet is printed as an object with definition and packet.

A field of fixed size behind a string, bytes or an array may be decoded by a guess. Then
decode warns on stderr, and the packet has a member "guessed" with the names of such
fields. If a packet or an element has a name twice, the second one gets a number: id#2.

A packet that can't be decoded is skipped; the exit code is 1 then.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			codec, err := f.codec(c)
			if err != nil {
				return err
			}
			if digits, ok := hexWords(args); ok {
				text, err := codec.decodeLine(nil, digits)
				if err == nil {
					_, err = c.OutOrStdout().Write(text)
				}
				return err
			}
			return codec.decodeFrom(c, args)
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVar(&f.strict, "strict", false, "refuse what no server or client writes, though it can be read")
	return c
}

// hexWords joins arguments that are the digits of one packet. A file of such a name
// needs a path.
func hexWords(args []string) (digits string, ok bool) {
	digits = strings.Join(strings.Fields(strings.Join(args, " ")), "")
	return digits, len(digits) >= 8 && isHexDigits(digits)
}

func isHexDigits(s string) bool {
	return len(s)%2 == 0 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// decodeFrom decodes a file or stdin.
func (k *codec) decodeFrom(c *cobra.Command, args []string) error {
	in, err := openInput(c, args)
	if err != nil {
		return err
	}
	defer in.Close()
	// The file may be shorter; what else is wrong with it will show again.
	head, _ := in.Peek(protocol.MaxPacket + 1)
	if isPacket(head) && !isHexDigits(strings.TrimSpace(string(head))) {
		return in.each(c, func() ([]byte, error) {
			_, err := in.Discard(len(head))
			return head, err
		}, k.decodeBytes)
	}
	return in.each(c, in.line, func(dst, line []byte) ([]byte, error) { return k.decodeLine(dst, string(line)) })
}

// isPacket tells a packet from other bytes: it has the length that it says.
func isPacket(b []byte) bool {
	return len(b) >= 4 && len(b) <= protocol.MaxPacket && int(binary.LittleEndian.Uint16(b)) == len(b)
}

// decodeLine appends the packet of a line as a line of JSON, and nothing for a remark.
func (k *codec) decodeLine(dst []byte, line string) ([]byte, error) {
	p, ok, err := capture.ParseLine(joinDigits(line))
	if err != nil || !ok {
		return dst, err
	}
	return k.decodePacket(dst, &p)
}

// joinDigits takes the spaces out of a line of nothing but one packet's digits. Other
// lines may have numbers before the packet.
func joinDigits(line string) string {
	digits := strings.Join(strings.Fields(line), "")
	if !isHexDigits(digits) {
		return line
	}
	if b, err := hex.DecodeString(digits); err != nil || !isPacket(b) {
		return line
	}
	return digits
}

func (k *codec) decodeBytes(dst, packet []byte) ([]byte, error) {
	return k.decodePacket(dst, &capture.Packet{Data: packet})
}

// decodePacket appends a packet as a line of JSON.
func (k *codec) decodePacket(dst []byte, p *capture.Packet) ([]byte, error) {
	named := packetName{p.Name, "*"}
	if p.Version > 0 {
		named.version = strconv.Itoa(p.Version)
	}
	table, err := k.table(named, p.Code())
	if err != nil {
		return dst, err
	}
	if k.lib == nil {
		dst, err = table.AppendJSON(dst, p.Data)
		return append(dst, '\n'), err
	}
	dst = fmt.Appendf(dst, `{"definition":%q,"packet":`, table.Name())
	dst, err = table.AppendJSON(dst, p.Data)
	return append(dst, "}\n"...), err
}
