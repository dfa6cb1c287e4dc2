package datacenter_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"lorefs/datacenter"
	"lorefs/internal/formats/datacenter/dctest"
)

// A data center is a tree. A node is decoded only when you ask for it.
func Example() {
	sword := &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "id", Value: 7}, {Name: "name", Value: "sword"}}}
	file := dctest.Build(dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "ItemData", Children: []*dctest.Node{sword}})}, dctest.Options{})

	dc, err := datacenter.Open(context.Background(), bytes.NewReader(file), int64(len(file)), datacenter.Options{})
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
