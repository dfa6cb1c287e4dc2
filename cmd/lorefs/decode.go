package main

import (
	"strings"

	"github.com/spf13/cobra"

	"lorefs/internal/app/packetjson"
	"lorefs/protocol"
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
			codec, err := f.codec(c, false)
			if err != nil {
				return err
			}
			if digits, ok := hexWords(args); ok {
				text, err := codec.DecodeLine(nil, digits)
				if err != nil {
					return withHint(err)
				}
				_, err = c.OutOrStdout().Write(text)
				return err
			}
			return decodeFrom(c, codec, args)
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVar(&f.strict, "strict", false, "refuse what no server or client writes, though it can be read")
	return c
}

// hexWords joins arguments that are the hex digits of one packet. A file with such a name
// must be given by a path.
func hexWords(args []string) (digits string, ok bool) {
	digits = strings.Join(strings.Fields(strings.Join(args, " ")), "")
	return digits, len(digits) >= 8 && packetjson.IsHex(digits)
}

// decodeFrom decodes a file or stdin.
func decodeFrom(c *cobra.Command, k *packetjson.Codec, args []string) error {
	in, err := openInput(c, args)
	if err != nil {
		return err
	}
	defer in.Close()
	// The file may be shorter. Other errors will occur again.
	head, _ := in.Peek(protocol.MaxPacket + 1)
	if packetjson.IsPacket(head) && !packetjson.IsHex(strings.TrimSpace(string(head))) {
		return in.each(c, func() ([]byte, error) {
			_, err := in.Discard(len(head))
			return head, err
		}, k.DecodeBytes)
	}
	return in.each(c, in.line, func(dst, line []byte) ([]byte, error) { return k.DecodeLine(dst, string(line)) })
}
