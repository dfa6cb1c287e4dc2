package pack_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/pack"
)

// A folder of sheets becomes a data center. Without a schema, values say their types.
func Example() {
	ctx := context.Background()
	folder := fstest.MapFS{"ItemData/ItemData-00000.xml": {Data: []byte(`<ItemData><Item id="7" name="sword" /></ItemData>`)}}
	var file bytes.Buffer
	if _, err := pack.Pack(ctx, folder, &file, pack.Options{}); err != nil {
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
	sheet, _, err := root.Child("ItemData")
	if err != nil {
		log.Fatal(err)
	}
	item, _, err := sheet.Child("Item")
	if err != nil {
		log.Fatal(err)
	}
	for a, err := range item.Attributes() {
		if err != nil {
			log.Fatal(err)
		}
		text, err := a.AppendText(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s is the %v %s\n", a.Name(), a.Type(), text)
	}
	// Output:
	// id is the int 7
	// name is the string sword
}
