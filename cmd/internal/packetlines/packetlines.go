// Package packetlines prints the packets of a recorded session, each of which is a line of JSON: those
// that conditions hold for (where.go), as the lines that they are or as a table of some fields
// (field.go).
package packetlines

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/internal/shown"
	"lorefs/internal/tabular"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// Flags are the flags of a command that prints packets.
type Flags struct {
	where          []string
	sender         string
	fields, format string
}

// Names are the names of the flags.
var Names = []string{"where", "sender", "fields", "format"}

// Add adds the flags to a command.
func (f *Flags) Add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.where, "where", nil, "of a session: only packets that a `condition` holds for, such as data.channel=4; may be given again")
	flags.StringVar(&f.sender, "sender", "", "of a session: only packets of the client or of the server")
	flags.StringVar(&f.fields, "fields", "", "of a session: print a table of these `fields`, such as time,data.message")
	cli.AddTableFormat(c, &f.format)
	_ = c.RegisterFlagCompletionFunc("sender", cobra.FixedCompletions(senders(), cobra.ShellCompDirectiveNoFileComp))
}

func senders() []string { return []string{capture.FromClient.String(), capture.FromServer.String()} }

// Sender returns whose packets are wanted.
func (f *Flags) Sender() (capture.Direction, error) {
	switch at := slices.Index(senders(), f.sender); {
	case f.sender == "":
		return capture.Unknown, nil
	case at < 0:
		return capture.Unknown, cli.UsageErrorf("--sender %s: want client or server", shown.Quote(f.sender))
	case at == 0:
		return capture.FromClient, nil
	}
	return capture.FromServer, nil
}

// Printer prints packets.
type Printer struct {
	out    *bufio.Writer
	where  []condition
	fields []field
	// table is where fields go, nil for lines.
	table *tabular.Writer
	buf   []byte
}

// usual are the fields of a table without --fields.
const usual = "number,time,sender,name,data"

// Printer returns what prints packets as the flags say.
func (f *Flags) Printer(out *bufio.Writer) (*Printer, error) {
	p := &Printer{out: out}
	for _, text := range f.where {
		one, err := parseCondition(text)
		if err != nil {
			return nil, err
		}
		p.where = append(p.where, one)
	}
	format, err := cli.TableFormat(f.format)
	if err != nil || f.fields == "" && f.format == "" {
		return p, err
	}
	fields := f.fields
	if fields == "" {
		fields = usual
	}
	var names []string
	for name := range strings.SplitSeq(fields, ",") {
		name = strings.TrimSpace(name)
		one, err := parseField(name)
		if err != nil {
			return nil, cli.UsageErrorf("--fields: %w", err)
		}
		if slices.Contains(names, name) {
			return nil, cli.UsageErrorf("--fields: %s comes twice", name)
		}
		p.fields, names = append(p.fields, one), append(names, name)
	}
	p.table = tabular.NewWriter(out, format, names)
	return p, nil
}

// Print prints the packets of a block.
func (p *Printer) Print(b *dissect.Block) error {
	if p.table == nil && len(p.where) == 0 {
		_, err := p.out.Write(b.Text)
		return err
	}
	text := b.Text
	for i := range b.Lines {
		line := text[:b.Lines[i].Text]
		text = text[len(line):]
		if err := p.line(line); err != nil {
			return err
		}
	}
	return nil
}

func (p *Printer) line(line []byte) (err error) {
	for i := range p.where {
		if !p.where[i].holds(line) {
			return nil
		}
	}
	if p.table == nil {
		_, err := p.out.Write(line)
		return err
	}
	for i := range p.fields {
		p.buf = p.fields[i].put(p.table, p.buf[:0], line)
	}
	return p.table.EndRow()
}

// Flush prints what has been kept so far.
func (p *Printer) Flush() error {
	if p.table != nil {
		if err := p.table.Flush(); err != nil {
			return err
		}
	}
	return p.out.Flush()
}

// End ends the table, and tells which fields no packet had.
func (p *Printer) End(c *cobra.Command) error {
	if p.table != nil {
		if err := p.table.End(); err != nil {
			return err
		}
		cli.TellBroken(c, p.table.Broken())
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	all := slices.Clone(p.fields)
	for i := range p.where {
		all = append(all, p.where[i].field)
	}
	told := map[string]bool{}
	for i := range all {
		// What no packet got to, because a condition before did not hold, was looked for in none.
		if all[i].looked && !all[i].found && !told[all[i].name] {
			told[all[i].name] = true
			if err := cli.ToldError(c, fmt.Errorf("no packet has %s", shown.Quote(all[i].name))); err != nil {
				return err
			}
		}
	}
	return nil
}
