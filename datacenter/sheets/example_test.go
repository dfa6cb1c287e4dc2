package sheets_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
)

// Each sheet of a data center becomes a file of XML.
func Example() {
	ctx := context.Background()
	source, err := sheets.New(swords(ctx), nil, sheets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range source.Families() {
		for sheet := range family.Sheets(0) {
			fmt.Println(family.File + "/" + family.SheetFile(sheet.Ordinal))
			if _, err := source.WriteSheet(ctx, os.Stdout, sheet); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// ItemData/ItemData-00000.xml
	// <ItemData xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="https://vezel.dev/novadrop/dc/ItemData ItemData.xsd" xmlns="https://vezel.dev/novadrop/dc/ItemData">
	//     <Item id="7" name="sword" />
	// </ItemData>
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
