// Package jsonsheet writes sheets of a data center as JSON.
package jsonsheet

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/internal/wtf8"
)

// bufferSize is the size of a write.
const bufferSize = 256 << 10

// Write writes a node of a file and all below it, in the form that sheets.Source.WriteJSON
// documents.
func Write(ctx context.Context, w io.Writer, n datacenter.Node) error {
	j := jsonWriter{ctx: ctx, w: bufio.NewWriterSize(w, bufferSize)}
	if err := j.node(n, ""); err != nil {
		return err
	}
	if err := j.w.WriteByte('\n'); err != nil {
		return err
	}
	return j.w.Flush()
}

type jsonWriter struct {
	ctx  context.Context //nolint:containedctx // only lives during Write
	w    *bufio.Writer
	text []byte
	// value is the __value__ of the current node, as JSON.
	value    []byte
	hasValue bool
}

// node writes a node and all below it, which is at most [datacenter.MaxDepth] levels deep.
// before separates it from what was written last.
func (j *jsonWriter) node(n datacenter.Node, before string) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if err := j.head(n, before); err != nil {
		return err
	}
	before, end := `,"children":[`+"\n", "}"
	for child, err := range n.Children() {
		if err == nil {
			err = j.node(child, before)
		}
		if err != nil {
			return err
		}
		before, end = ",\n", "]}"
	}
	_, err := j.w.WriteString(end)
	return err
}

// head writes a node without its children.
func (j *jsonWriter) head(n datacenter.Node, before string) error {
	b := append(append(j.text[:0], before...), `{"name":`...)
	b = wtf8.AppendJSON(b, []byte(n.Name()))
	for i, key := range n.Keys() {
		if i == 0 {
			b = append(b, `,"keys":[`...)
		} else {
			b = append(b, ',')
		}
		b = wtf8.AppendJSON(b, []byte(key))
	}
	if len(n.Keys()) > 0 {
		b = append(b, ']')
	}
	if n.Flags() != 0 {
		b = strconv.AppendUint(append(b, `,"flags":`...), uint64(n.Flags()), 10)
	}
	b, err := j.attributes(b, n)
	if err != nil {
		return err
	}
	if j.hasValue {
		b = append(append(b, `,"text":`...), j.value...)
	}
	j.text = b
	_, err = j.w.Write(b)
	return err
}

func (j *jsonWriter) attributes(b []byte, n datacenter.Node) ([]byte, error) {
	j.hasValue = false
	begun := false
	for a, err := range n.Attributes() {
		if err != nil {
			return b, err
		}
		if a.Name() == spell.ValueName { // always the last attribute
			j.hasValue = true
			j.value, err = a.AppendJSON(j.value[:0])
			return closed(b, begun), err
		}
		if begun {
			b = append(b, ',')
		} else {
			b = append(b, `,"attributes":{`...)
		}
		begun = true
		b = append(wtf8.AppendJSON(b, []byte(a.Name())), ':')
		if b, err = a.AppendJSON(b); err != nil {
			return b, err
		}
	}
	return closed(b, begun), nil
}

// Attributes returns the attributes of a node as Write has them, and its text. Either is nil if there
// is none.
func Attributes(n datacenter.Node) (attributes, text []byte, err error) {
	var j jsonWriter
	const name = `,"attributes":`
	if attributes, err = j.attributes(nil, n); err != nil || !j.hasValue {
		return bytes.TrimPrefix(attributes, []byte(name)), nil, err
	}
	return bytes.TrimPrefix(attributes, []byte(name)), j.value, nil
}

// closed ends the attributes, if there are any.
func closed(b []byte, begun bool) []byte {
	if begun {
		return append(b, '}')
	}
	return b
}
