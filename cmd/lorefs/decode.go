package main

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/app/packetjson"
	"lorefs/internal/origin"
	"lorefs/protocol"
)

func newDecode(log *slog.Logger) *cobra.Command {
	var f codecFlags
	var session sessionFlags
	c := &cobra.Command{
		Use:   "decode [SESSION | HEX | FILE | -]",
		Short: "turn packets into JSON",
		Long: `decode prints the packets of a recorded session, each as a line of JSON, which encode
turns into the same bytes again. The lines are those of the files in packets/ of a mount.
--name, --from and --to select some of them; both ends are included, numbers begin with 0,
and --name ignores case. With --follow, decode goes on while the session is being recorded.
It is an error then if the file is cut or replaced.

decode also reads packets, header included, as hex digits. HEX is one packet. FILE has one
in each line, or is one packet as bytes, as a mount shows it. Without an argument, or with
-, decode reads lines from stdin, and prints each packet as it comes. Spaces between the
digits are ignored.

The definition is that of --def, or one of --definitions: that of --name, else of the
name before the digits, else of the packet's code by the map of --revision.
With --definitions, each packet is printed as an object with definition and packet.

A field of fixed size behind a string, bytes or an array may be decoded by a guess. Then
decode warns on stderr, and the packet has a member "guessed" with the names of such
fields. If a packet or an element has a name twice, the second one gets a number: id#2.

A packet in hex that can't be decoded is skipped; the exit code is 1 then. One of a session
is printed with its error and its bytes in hex.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			digits, isHex := hexWords(args)
			if !isHex && len(args) == 1 && args[0] != "-" {
				if _, err := os.Stat(args[0]); err != nil && !origin.IsRemote(args[0]) {
					return kinds.Unreadable(args[0], err)
				}
				if isSession(args[0]) {
					return decodeSession(c, args[0], &session, &f, log)
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
