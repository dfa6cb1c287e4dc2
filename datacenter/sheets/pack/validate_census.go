package pack

import (
	"context"
	"fmt"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/xsd"
)

// census gets what the validators found, sheet by sheet. It reports the problems, and
// counts over all sheets, which are to be one data center.
type census struct {
	src    *Folder
	report func(Problem) error
	// broken are the errors of unreadable schemas that have been reported.
	broken map[error]bool

	// Of the current sheet, and of those before it that could not be read to their ends.
	nodes, attributes int64
	totals            totals

	names       nameSet
	definitions definitions
	// told are the limits that have been reported, since everything beyond one exceeds it.
	told map[string]bool
}

func newCensus(src *Folder, report func(Problem) error) *census {
	return &census{
		src: src, report: report, broken: map[error]bool{},
		names: newNameSet(), definitions: definitions{}, told: map[string]bool{},
	}
}

// sheet takes what is found in a sheet.
func (c *census) sheet(ctx context.Context, job *checking) error {
	for {
		select {
		case batch, more := <-job.found:
			if !more {
				return c.end(job)
			}
			for i := range batch {
				if err := c.finding(job, &batch[i]); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return fmt.Errorf("sheets: %w", ctx.Err())
		}
	}
}

// finding takes one.
func (c *census) finding(job *checking, f *finding) error {
	switch {
	case f.problem != Problem{}:
		if f.schema != nil {
			if c.broken[f.schema] {
				return nil
			}
			c.broken[f.schema] = true
		}
		return c.report(f.problem)
	case f.keys != nil:
		return c.limit(job, f.offset, c.definitions.add(f.keys))
	}
	return c.limit(job, f.offset, c.names.add([]byte(f.name)))
}

// limit reports once that a limit was reached.
func (c *census) limit(job *checking, offset int, err error) error {
	if err == nil || c.told[err.Error()] {
		return nil
	}
	c.told[err.Error()] = true
	p := Problem{File: job.file.path, What: err.Error(), Refused: true}
	// The place is looked for only now, because hardly any sheet reaches a limit.
	data, readErr := job.file.read(c.src.fsys, nil)
	if readErr != nil {
		return readErr
	}
	parser, readErr := xmlsheet.New(job.file.path, data)
	if readErr != nil {
		return fmt.Errorf("sheets: %s: %w", job.file.path, datacenter.ErrChanged)
	}
	p.Line, p.Column = xmltext.Place(parser.Data(), offset)
	return c.report(p)
}

// end adds up at the end of a sheet.
func (c *census) end(job *checking) error {
	if job.err != nil {
		return job.err
	}
	c.nodes += job.nodes
	c.attributes += job.attributes
	if !job.ended {
		return nil
	}
	err := c.totals.add(c.nodes, c.attributes)
	c.nodes, c.attributes = 0, 0
	if err == nil || c.told[err.Error()] {
		return nil
	}
	c.told[err.Error()] = true
	return c.report(Problem{File: job.file.path, What: err.Error(), Refused: true})
}

// count counts the newest node and its attributes.
func (v *validator) count(attributes int) {
	v.job.nodes++
	v.job.attributes += int64(attributes)
	v.open[len(v.open)-1].size = size{nodes: 1, attributes: uint32(attributes)}
}

// tell passes on the names of a new node, and its key definition. A node's own keys count before those
// of its type.
func (v *validator) tell(n *xmlsheet.Node, of *xsd.ElementType) error {
	keys := n.Keys
	if !n.HasKeys && of != nil {
		keys = of.Keys
	}
	if err := v.name(n.Name, n.Offset); err != nil {
		return err
	}
	for i := range n.Attributes {
		if err := v.name(n.Attributes[i].Name, n.Attributes[i].Offset); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := v.name([]byte(key), n.Offset); err != nil {
			return err
		}
	}
	known := len(v.definitions)
	if _ = v.definitions.add(keys); len(v.definitions) == known {
		return nil
	}
	return v.pass(finding{keys: keys, offset: n.Offset})
}

// name passes a name on if it is new. This validator read only sheets before this one, so
// the census gets each name from the sheet that has it first, and knows when there are too
// many.
func (v *validator) name(name []byte, offset int) error {
	known := len(v.names)
	if _ = v.names.add(name); len(v.names) == known {
		return nil
	}
	return v.pass(finding{name: string(name), offset: offset})
}
