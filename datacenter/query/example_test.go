package query_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"lorefs/datacenter"
	"lorefs/datacenter/query"
)

// An expression finds an attribute of a data center.
func Example() {
	ctx := context.Background()
	b, err := datacenter.NewBuilder([]string{"ItemData", "Item", "id", "name"}, datacenter.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	b.Begin("ItemData", nil, 0)
	for i, name := range []string{"axe", "sword"} {
		b.Begin("Item", nil, 0)
		b.Int("id", int32(i))
		b.String("name", name)
		b.End()
	}
	b.End()
	var file bytes.Buffer
	if err := b.Write(ctx, &file); err != nil {
		log.Fatal(err)
	}
	dc, err := datacenter.Open(ctx, bytes.NewReader(file.Bytes()), int64(file.Len()), datacenter.Options{})
	if err != nil {
		log.Fatal(err)
	}

	q, err := query.Compile("//Item[@name='sword']/@id")
	if err != nil {
		log.Fatal(err)
	}
	for m, err := range q.Run(ctx, dc) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Path, m.Attribute.Int())
	}
	// Output:
	// ItemData/Item.1/id 1
}
