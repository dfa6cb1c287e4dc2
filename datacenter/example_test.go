package datacenter_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"lorefs/datacenter"
)

// A data center is a tree. A file is built, and a node is decoded only when you ask for it.
func Example() {
	ctx := context.Background()
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

	dc, err := datacenter.Open(ctx, bytes.NewReader(file.Bytes()), int64(file.Len()), datacenter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	root, err := dc.Root()
	if err != nil {
		log.Fatal(err)
	}
	printNode(root, "")

	// Names lead down, too.
	sheet, _, err := root.Child("ItemData")
	if err != nil {
		log.Fatal(err)
	}
	item, found, err := sheet.Child("Item")
	if err != nil || !found {
		log.Fatal(err)
	}
	id, _, err := item.Attr("id")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the first item is", id.Int())
	// Output:
	// __root__
	//   ItemData
	//     Item id=7 name=sword
	// the first item is 7
}

func printNode(n datacenter.Node, indent string) {
	fmt.Print(indent, n.Name())
	for a, err := range n.Attributes() {
		if err != nil {
			log.Fatal(err)
		}
		text, err := a.AppendText(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf(" %s=%s", a.Name(), text)
	}
	fmt.Println()
	for child, err := range n.Children() {
		if err != nil {
			log.Fatal(err)
		}
		printNode(child, indent+"  ")
	}
}
