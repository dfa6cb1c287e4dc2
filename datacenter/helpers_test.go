package datacenter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
)

func open(data []byte, opts datacenter.Options) (*datacenter.File, error) {
	return datacenter.Open(context.Background(), bytes.NewReader(data), int64(len(data)), opts)
}

func mustOpen(t testing.TB, data []byte, opts datacenter.Options) *datacenter.File {
	t.Helper()
	f, err := open(data, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return f
}

// walk visits at most limit nodes below n, with all their attributes, and checks the
// lengths of texts. It returns the number of nodes and attributes that it visited.
func walk(n datacenter.Node, limit int) (entries int, err error) {
	entries = 1
	for a, err := range n.Attributes() {
		if err != nil {
			return entries, err
		}
		text, err := a.AppendText(nil)
		if err != nil {
			return entries, err
		}
		size, err := a.TextLen()
		if err != nil {
			return entries, err
		}
		if size != len(text) {
			return entries, fmt.Errorf("TextLen of %v: %d, want %d", a.Address(), size, len(text))
		}
		entries++
	}
	for c, err := range n.Children() {
		if err != nil || entries > limit {
			return entries, err
		}
		k, err := walk(c, limit-entries)
		entries += k
		if err != nil {
			return entries, err
		}
	}
	return entries, nil
}

// render returns a text for a tree. Trees with the same content have the same text,
// whatever their order.
func render(n datacenter.Node) (string, error) {
	var parts []string
	for a, err := range n.Attributes() {
		if err != nil {
			return "", err
		}
		text, err := a.AppendText(nil)
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("%q=%v:%q", a.Name(), a.Type(), text))
	}
	slices.Sort(parts)
	var below []string
	for c, err := range n.Children() {
		if err != nil {
			return "", err
		}
		s, err := render(c)
		if err != nil {
			return "", err
		}
		below = append(below, s)
	}
	slices.Sort(below)
	return fmt.Sprintf("%q %v flags %d (%s) {%s}", n.Name(), n.Keys(), n.Flags(),
		strings.Join(parts, " "), strings.Join(below, "\n")), nil
}

// renderDoc is render for the source of a file.
func renderDoc(n *dctest.Node) string {
	var parts []string
	for _, a := range n.Attrs {
		parts = append(parts, fmt.Sprintf("%q=%s", wtf8(a.Name), renderValue(a.Value)))
	}
	slices.Sort(parts)
	var below []string
	for _, c := range n.Children {
		if !c.Placeholder {
			below = append(below, renderDoc(c))
		}
	}
	slices.Sort(below)
	keys := datacenter.KeyDefinition(slices.DeleteFunc(slices.Clone(n.Keys), func(s string) bool { return s == "" }))
	return fmt.Sprintf("%q %v flags %d (%s) {%s}", wtf8(n.Name), keys, n.Flags,
		strings.Join(parts, " "), strings.Join(below, "\n"))
}

func wtf8(s string) string { return dctest.Text8(dctest.Units(s)) }

func renderValue(v any) string {
	switch v := v.(type) {
	case int, int32:
		return fmt.Sprintf("int:\"%d\"", v)
	case bool:
		return fmt.Sprintf("bool:\"%t\"", v)
	case float32:
		return fmt.Sprintf("float:%q", datacenter.FloatValue(v).Text())
	case string:
		return fmt.Sprintf("string:%q", wtf8(v))
	case dctest.Raw:
		if v.Type == uint8(datacenter.Float) {
			return fmt.Sprintf("float:%q", datacenter.FloatValue(math.Float32frombits(v.Value)).Text())
		}
	case []uint16:
		return fmt.Sprintf("string:%q", dctest.Text8(v))
	}
	return fmt.Sprintf("%T:%v", v, v)
}

// isFormatError reports whether an error is a FormatError.
func isFormatError(err error) bool {
	_, ok := errors.AsType[*datacenter.FormatError](err)
	return ok
}
