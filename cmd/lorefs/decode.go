package main

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/packetjson"
	"lorefs/internal/origin"
	"lorefs/protocol"
)

func newDecode(log *slog.Logger) *cobra.Command {
	var f codecFlags
	var session sessionFlags
	c := &cobra.Command{
		Use:   "decode [SESSION | HEX | FILE | -]",
		Short: "turn packets into JSON",
		Long: `decode prints packets as JSON, one packet a line. lorefs encode turns the lines into the
same bytes again.

SESSION is a recorded session. decode prints the lines that a mount has in packets/. Choose
packets with --name, --from and --to. Numbers begin with 0, --from and --to include the
packets that they name, and --name ignores case. --follow goes on while the session is
being recorded, and fails if somebody cuts or replaces the file.

decode also reads packets in hex, with their headers. HEX is one packet. FILE has one
packet in each line, or is one packet as bytes, as a mount shows it. Without an argument, or
with -, decode reads lines from stdin and prints each packet as it comes. Spaces between
the digits don't matter.

--def is the definition of all packets. Or name a folder with --definitions. Then decode
picks the definition by --name, else by the name before the digits, else by the packet's
code and the map of --revision. With --definitions, it prints each packet as an object with
the members definition and packet.

Sometimes decode has to guess where a field of fixed size is: behind a string, bytes or an
array. Then it warns on stderr, and the packet has a member "guessed" with the names of such
fields. If a packet or an element has a name twice, the second one gets a number: id#2.

decode skips a packet in hex that it can't decode, and exits with 1. Of a session it prints
such a packet with the error and the bytes in hex.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			digits, isHex := hexWords(args)
			if !isHex && len(args) == 1 && args[0] != "-" {
				if _, err := os.Stat(args[0]); err != nil && !origin.IsRemote(args[0]) {
					return kinds.Unreadable(args[0], err)
				}
				path, opened, err := f.sourceOf(args[0], c.ErrOrStderr())
				if err != nil {
					return err
				}
				if err := session.await(c.Context(), path); err != nil {
					return err
				}
				if opened != nil || isSession(path) {
					return decodeSession(c, path, &session, &f, log)
				}
			}
			if name := session.given(c); name != "" {
				return usageErrorf("--%s goes with a recorded session, and not with packets in hex", name)
			}
			if len(session.names) > 1 {
				return usageErrorf("--name is given twice: packets in hex are of one name")
			}
			f.name = strings.Join(session.names, "")
			codec, err := f.codec(c, false)
			if err != nil {
				return err
			}
			if isHex {
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
	f.addTo(c.Flags(), f.remote.table())
	session.add(c)
	c.Flags().BoolVar(&f.strict, "strict", false, "refuse what no server or client writes, though it can be read")
	return c
}

// isSession reports whether a file is a recorded session, and neither text nor one packet.
func isSession(path string) bool {
	if origin.IsRemote(path) {
		return true // where text with packets can't be read
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // reading a pipe would take its packets away
	}
	f, err := os.Open(path)
	if err != nil {
		return false // to be told by who reads it
	}
	defer f.Close()
	head := make([]byte, protocol.MaxPacket+1)
	n, _ := io.ReadFull(f, head)
	return !packetjson.IsPacket(head[:n]) && kinds.IsBinaryRecording(path)
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
	head := in.head()
	if packetjson.IsPacket(head) && !packetjson.IsHex(strings.TrimSpace(string(head))) {
		return in.each(c, func() ([]byte, error) {
			_, err := in.Discard(len(head))
			return head, err
		}, k.DecodeBytes)
	}
	return in.each(c, in.line, func(dst, line []byte) ([]byte, error) { return k.DecodeLine(dst, string(line)) })
}
