package edit_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// A draft is edited and written as a new file, which is then compared with the draft.
func Example() {
	ctx := context.Background()
	draft, err := edit.NewDraft(swords(ctx), nil)
	if err != nil {
		log.Fatal(err)
	}
	// Numbers lead down from the root, 0. What is below a node can be seen once it is open.
	sheet, _ := draft.Child(0, "ItemData", 0)
	if err := draft.Open(sheet.Number); err != nil {
		log.Fatal(err)
	}
	item, _ := draft.Child(sheet.Number, "Item", 0)
	err = draft.Apply(ctx,
		edit.Edit{Op: edit.SetAttribute, Node: item.Number, Name: "id", Value: datacenter.IntValue(8)},
		edit.Edit{Op: edit.RemoveAttribute, Node: item.Number, Name: "name"},
	)
	if err != nil {
		log.Fatal(err)
	}

	snapshot := draft.Snapshot()
	defer snapshot.Close()
	for _, c := range snapshot.Changes() {
		fmt.Println("changed:", c.Name)
	}
	var file bytes.Buffer
	written, err := snapshot.Write(ctx, datacenter.WriteOptions{}, &file)
	if err != nil {
		log.Fatal(err)
	}
	err = written.Compare(ctx, open(ctx, file.Bytes()))
	fmt.Println("the new file has the edits:", err == nil)
	// Output:
	// changed: id
	// changed: name
	// the new file has the edits: true
}

// swords makes up a data center with one item.
func swords(ctx context.Context) *datacenter.File {
	b, err := datacenter.NewBuilder([]string{"ItemData", "Item", "id", "name"}, datacenter.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	b.Begin("ItemData", nil, 0)
	b.Begin("Item", nil, 0)
	b.Int("id", 7)
	b.String("name", "sword")
	b.End()
	b.End()
	var file bytes.Buffer
	if err := b.Write(ctx, &file); err != nil {
		log.Fatal(err)
	}
	return open(ctx, file.Bytes())
}

func open(ctx context.Context, file []byte) *datacenter.File {
	dc, err := datacenter.Open(ctx, bytes.NewReader(file), int64(len(file)), datacenter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return dc
}
