package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/codec"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/packetkind"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/packetjson"
	"lorefs/cmd/internal/packetlines"
	"lorefs/cmd/internal/pattern"
	"lorefs/cmd/internal/reach"
	"lorefs/internal/origin"
	"lorefs/internal/shown"
	"lorefs/protocol"
	"lorefs/protocol/dissect"
)

func newDecode(log *slog.Logger) *cobra.Command {
	var f codec.Flags
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

--where and --sender choose packets by what is in them, and --fields prints a table:

  lorefs decode SESSION --where 'data.channel=4' --sender client --fields time,data.message

A condition is a field, one of = != < <= > >= ~, and a value; ~ asks for a part of a text. Dots
lead to what is in a field, and into each element of an array. lorefs help tables describes
what --format prints.

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
				path, opened, err := reach.SourceOf(&f.Set, args[0], c.ErrOrStderr())
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
				return cli.UsageErrorf("--%s goes with a recorded session, and not with packets in hex", name)
			}
			if len(session.names) > 1 {
				return cli.UsageErrorf("--name is given twice: packets in hex are of one name")
			}
			f.Name = strings.Join(session.names, "")
			packets, err := f.Open(c, false)
			if err != nil {
				return err
			}
			if isHex {
				text, err := packets.DecodeLine(nil, digits)
				if err != nil {
					return codec.WithHint(err)
				}
				_, err = c.OutOrStdout().Write(text)
				return err
			}
			return decodeFrom(c, packets, args)
		},
	}
	f.Add(c.Flags())
	f.AddTo(c.Flags(), f.Remote.Table())
	session.add(c)
	c.Flags().BoolVar(&f.Strict, "strict", false, "refuse what no server or client writes, though it can be read")
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
	return !packetjson.IsPacket(head[:n]) && packetkind.IsBinaryRecording(path)
}

// hexWords joins arguments that are the hex digits of one packet. A file with such a name
// must be given by a path.
func hexWords(args []string) (digits string, ok bool) {
	digits = strings.Join(strings.Fields(strings.Join(args, " ")), "")
	return digits, len(digits) >= 8 && packetjson.IsHex(digits)
}

// decodeFrom decodes a file or stdin.
func decodeFrom(c *cobra.Command, k *packetjson.Codec, args []string) error {
	in, err := codec.OpenInput(c, args)
	if err != nil {
		return err
	}
	defer in.Close()
	head := in.Head()
	if packetjson.IsPacket(head) && !packetjson.IsHex(strings.TrimSpace(string(head))) {
		return in.Each(c, func() ([]byte, error) {
			_, err := in.Discard(len(head))
			return head, err
		}, k.DecodeBytes)
	}
	return in.Each(c, in.Line, func(dst, line []byte) ([]byte, error) { return k.DecodeLine(dst, string(line)) })
}

// sessionFlags are the flags of decode for a recorded session.
type sessionFlags struct {
	packetlines.Flags
	names    []string
	from, to string
	follow   bool
}

// followEvery is how often decode looks whether a session has grown.
const followEvery = 250 * time.Millisecond

func (f *sessionFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.names, "name", nil, "NAME or NAME.VERSION of packets in hex; of a session only packets of names that match the `pattern`, such as S_CHAT or 'C_*'; may be given again")
	flags.StringVar(&f.from, "from", "", "of a session: begin with the packet of this `number`, or with this time, such as 2020-09-01T20:00:00Z")
	flags.StringVar(&f.to, "to", "", "of a session: end with the packet of this `number`, or with this time")
	f.Add(c)
	flags.BoolVar(&f.follow, "follow", false, "of a session: go on with the packets that are appended to it, until decode is interrupted")
}

// selection returns which packets are wanted.
func (f *sessionFlags) selection() (s dissect.Selection, err error) {
	s.To = math.MaxInt
	if s.Sender, err = f.Sender(); err != nil {
		return s, err
	}
	number := 0
	if number, s.Since, err = parsePlace("--from", f.from); number >= 0 {
		s.From = number
	}
	if err != nil {
		return s, err
	}
	if number, s.Until, err = parsePlace("--to", f.to); number >= 0 && number < math.MaxInt {
		s.To = number + 1
	}
	if err != nil {
		return s, err
	}
	if f.to != "" && s.From >= s.To || !s.Since.IsZero() && !s.Until.IsZero() && s.Since.After(s.Until) {
		return s, cli.UsageErrorf("--from %s is behind --to %s", f.from, f.to)
	}
	patterns := make([]*pattern.Pattern, len(f.names))
	for i, text := range f.names {
		if patterns[i], err = pattern.Compile(text, true); err != nil {
			return s, cli.UsageErrorf("--name %s: %w", shown.Quote(text), err)
		}
	}
	if len(patterns) > 0 {
		s.Code = func(c *dissect.Code) bool {
			return slices.ContainsFunc(patterns, func(p *pattern.Pattern) bool { return p.Match(c.Name) })
		}
	}
	return s, nil
}

// parsePlace reads the number of a packet, or a time. The number is -1 if there is none.
func parsePlace(flag, text string) (number int, at time.Time, err error) {
	if text == "" {
		return -1, at, nil
	}
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		return int(n), at, nil
	}
	if at, err = time.Parse(time.RFC3339Nano, strings.ToUpper(text)); err != nil {
		return -1, at, cli.UsageErrorf("%s %s: want the number of a packet, or a time such as 2020-09-01T20:00:00Z", flag, shown.Quote(text))
	}
	return -1, at, nil
}

// given returns the flags that only a session takes, as far as they are given.
func (f *sessionFlags) given(c *cobra.Command) string {
	for _, name := range append([]string{"from", "to", "follow"}, packetlines.Names...) {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// decodeSession prints the packets of a recorded session.
func decodeSession(c *cobra.Command, path string, f *sessionFlags, read *codec.Flags, log *slog.Logger) error {
	for _, name := range []string{"def", "code", "padded", "strict"} {
		if c.Flags().Changed(name) {
			return cli.UsageErrorf("--%s goes with packets in hex: %s is a recorded session, which --definitions says how to read", name, origin.Shown(path))
		}
	}
	if f.follow && origin.IsRemote(path) {
		return cli.UsageErrorf("--follow goes with a session on this machine: nobody tells when %s grows", origin.Shown(path))
	}
	want, err := f.selection()
	if err != nil {
		return err
	}
	out, err := f.Printer(bufio.NewWriter(c.OutOrStdout()))
	if err != nil {
		return err
	}
	if err := read.Settle(path, kinds.PacketsName); err != nil {
		return err
	}
	if err := read.CheckPaths(); err != nil {
		return err
	}
	budget.DecodeSession()
	o := kinds.Options{Logger: log}
	read.Remote.Set(&o)
	if o.Packets, err = read.Parse(&read.Set); err != nil {
		return err
	}
	o.Packets.Follow = f.follow
	k, err := registry.Find(c.Context(), path, kinds.PacketsName, &o)
	if err != nil {
		return err
	}
	s, err := k.Open(c.Context(), path, &o)
	if err != nil {
		return err
	}
	defer s.Close()
	r, ok := packetkind.RecordingOf(s)
	if !ok {
		return fmt.Errorf("%s: not a recorded session", path)
	}
	if o.Packets.Definitions == "" && log.Enabled(c.Context(), slog.LevelWarn) {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: packets have numbers in place of names: --definitions takes names and fields from a folder\n")
	}
	if f.follow {
		return cmp.Or(follow(c.Context(), r, want, out), out.End(c))
	}
	if err := cmp.Or(printLines(c.Context(), r.Now(), want, out), out.End(c)); err != nil {
		return err
	}
	return f.remarks(c, path, r.Now())
}

// remarks tells on stderr what is odd about a session that was printed.
func (f *sessionFlags) remarks(c *cobra.Command, path string, r *dissect.Recording) error {
	for _, text := range f.names {
		p, err := pattern.Compile(text, true)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(r.Names(), p.Match) {
			if err := cli.ToldError(c, fmt.Errorf("%s has no packet of a name like %s%s", path, shown.Quote(text), cli.DidYouMean(text, r.Names()))); err != nil {
				return err
			}
		}
	}
	if end := r.Log().Info().Incomplete; end != nil {
		return cli.ToldError(c, fmt.Errorf("%s does not end with a whole packet: %w", path, end))
	}
	return nil
}

func printLines(ctx context.Context, r *dissect.Recording, want dissect.Selection, out *packetlines.Printer) error {
	for b, err := range r.Lines(ctx, want) {
		if err == nil {
			err = out.Print(b)
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
	}
	return out.Flush()
}

// sessionStart is more than the bytes by which a recorded session is recognized.
const sessionStart = 64

// await waits with --follow until so much is in a file that it can be recognized: the one of a
// program that has just begun to record is empty.
func (f *sessionFlags) await(ctx context.Context, path string) error {
	for f.follow && !origin.IsRemote(path) && mayBegin(path) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(followEvery):
		}
	}
	return nil
}

// mayBegin reports whether a file may become a recorded session: what it holds is neither one
// yet, nor something else.
func mayBegin(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() >= sessionStart || isSession(path) {
		return false
	}
	head, err := os.ReadFile(path)
	if err != nil || packetjson.IsPacket(head) {
		return false
	}
	noText := func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }
	return len(head) == 0 || bytes.ContainsFunc(head, noText)
}

// follow prints packets as they are appended, up to the last one that is wanted.
func follow(ctx context.Context, r packetkind.Recording, want dissect.Selection, out *packetlines.Printer) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		now := r.Now()
		if err := printLines(ctx, now, want, out); err != nil {
			return err
		}
		n := now.Log().Len()
		if n >= want.To || isPast(now, want.Until) {
			return nil
		}
		want.From = max(want.From, n)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if err := r.Grow(ctx); err != nil {
			return err
		}
	}
}

// isPast reports whether a session has come to a packet after a time. The zero time is none.
func isPast(r *dissect.Recording, until time.Time) bool {
	n := r.Log().Len()
	if until.IsZero() || n == 0 {
		return false
	}
	last, err := r.Log().Packet(n-1, nil)
	return err == nil && last.Time.After(until)
}

func newEncode() *cobra.Command {
	var f codec.Flags
	c := &cobra.Command{
		Use:   "encode [FILE | -]",
		Short: "turn JSON into packets",
		Long: `encode reads packets as JSON objects, one after the other, and prints each as a line of hex
digits. It reads what decode prints, and the files of a mounted session. Members that are
missing in data are zero. Without FILE, encode reads stdin.

--def is the definition of all packets. Or name a folder with --definitions. Then encode
picks the definition by --name, else by the object's member definition, else by its member
name, else by its code and the map of --revision. A packet without a code gets the code of
--code, else that of the map. encode refuses a definition if deprecated.json says that it
does not suit --game-patch.

encode skips a packet that it can't encode, and exits with 1.`,
		Args: func(c *cobra.Command, args []string) error { return cli.AtMostArgs(1)(c, args) },
		RunE: func(c *cobra.Command, args []string) error {
			k, err := f.Open(c, true)
			if err != nil {
				return err
			}
			in, err := codec.OpenInput(c, args)
			if err != nil {
				return err
			}
			defer in.Close()
			return in.Each(c, in.ReadValues(), k.Encode)
		},
	}
	f.Add(c.Flags())
	c.Flags().StringVar(&f.Name, "name", "", "NAME or NAME.VERSION of the packets")
	return c
}
