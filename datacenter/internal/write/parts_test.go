package write_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
)

// TestBuilderOfParts checks that a data center whose texts, attributes and nodes are stored one after the other
// is the same file as one that is built node by node. The nodes have keys, so they are compared by attributes
// and texts that are stored before.
func TestBuilderOfParts(t *testing.T) {
	const items, perRun = 3000, 10
	names := []string{"S", "Item", "id", "on", "text"}
	keys := datacenter.KeyDefinition{"id", "text"}
	text := func(i int) string { return fmt.Sprint("text ", i*7919%1000) }
	written := func(b interface {
		Write(context.Context, io.Writer) error
	},
	) []byte {
		var out bytes.Buffer
		if err := b.Write(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	whole, err := datacenter.NewBuilder(names, write.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		if i%perRun == 0 {
			whole.Begin("S", nil, 0)
		}
		whole.Begin("Item", keys, 1)
		whole.String("text", text(i))
		whole.Bool("on", i%2 == 0)
		whole.Int("id", int32(i%3))
		whole.End()
		if i%perRun == perRun-1 {
			whole.End()
		}
	}
	parts, err := write.NewStore(names, write.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var buf []byte
	var texts []write.StoredText
	for i := range items {
		stored, err := parts.StoreText([]byte(text(i)), &buf)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, stored)
	}
	var at []datacenter.Address
	batch := parts.NewAttributeBatch()
	for i, text := range texts {
		str := form.NewAttribute(parts.NameIndex("text"), datacenter.String, 0)
		text.Set(&str)
		on := form.NewAttribute(parts.NameIndex("on"), datacenter.Bool, uint32(1-i%2))
		id := form.NewAttribute(parts.NameIndex("id"), datacenter.Int, uint32(i%3))
		err := batch.Add([]form.Attribute{str, on, id})
		if err == nil && (i+1)%perRun == 0 {
			err = batch.Store(func(_ int, stored datacenter.Address) { at = append(at, stored) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var run []form.Node
	for _, stored := range at {
		item := parts.NewNode("Item", keys, 1)
		item.SetAttributes(stored, 3)
		if run = append(run, item); len(run) < perRun {
			continue
		}
		children, err := parts.StoreChildren(run)
		if err != nil {
			t.Fatal(err)
		}
		sheet := parts.NewNode("S", nil, 0)
		sheet.SetChildren(children, len(run))
		parts.AddSheet(sheet)
		run = run[:0]
	}
	if !bytes.Equal(written(parts), written(whole)) {
		t.Error("the files differ")
	}
}

// TestBatchOfAttributes checks what a batch refuses, and a run without attributes.
func TestBatchOfAttributes(t *testing.T) {
	b, err := write.NewStore([]string{"S", "a"}, write.Options{})
	if err != nil {
		t.Fatal(err)
	}
	batch := b.NewAttributeBatch()
	a := form.NewAttribute(b.NameIndex("a"), datacenter.Int, 0)
	if err := batch.Add([]form.Attribute{a, a}); !errors.Is(err, datacenter.ErrValue) {
		t.Errorf("an attribute that comes twice: %v", err)
	}
	if err := batch.Add(make([]form.Attribute, datacenter.MaxRun+1)); !errors.Is(err, datacenter.ErrTooLarge) {
		t.Errorf("too many attributes: %v", err)
	}
	calls := 0
	if err := errors.Join(batch.Add(nil), batch.Store(func(int, datacenter.Address) { calls++ })); err != nil || calls != 1 {
		t.Errorf("a run without attributes: %v, stored %d times", err, calls)
	}
}

// TestBatchOfTexts checks that strings of a batch are stored as others are, and what Store refuses.
func TestBatchOfTexts(t *testing.T) {
	b, err := write.NewStore([]string{"S"}, write.Options{})
	if err != nil {
		t.Fatal(err)
	}
	batch := b.NewTextBatch()
	words := []string{"a", "", "ä", "a", "b", "ä", "\U0001F600"}
	for _, w := range words {
		batch.Add([]byte(w))
	}
	var stored []write.StoredText
	if err := batch.Store(func(_ int, text write.StoredText) { stored = append(stored, text) }); err != nil {
		t.Fatal(err)
	}
	var buf []byte
	for i, w := range words {
		if text, err := b.StoreText([]byte(w), &buf); err != nil || len(stored) != len(words) || text != stored[i] || !text.Known() {
			t.Errorf("%q: %v and %v, %v", w, text, stored, err)
		}
	}
	batch.Add([]byte("a\x00"))
	if err := batch.Store(func(int, write.StoredText) {}); !errors.Is(err, datacenter.ErrValue) {
		t.Errorf("a NUL: %v", err)
	}
}
