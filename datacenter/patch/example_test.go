package patch_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
)

// A patch is made of a file before and after a mod, and applied to the game's next file.
func Example() {
	ctx := context.Background()
	made, err := patch.Make(ctx, priced(ctx, 10, 99), priced(ctx, 5, 99), "the game")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", made.Blocks[0].Append(nil))
	read, err := patch.Parse("mod.lorepatch", made.Append(nil))
	if err != nil {
		log.Fatal(err)
	}

	next := priced(ctx, 10, 120) // the game has changed another price
	draft, err := edit.NewDraft(next, nil)
	if err != nil {
		log.Fatal(err)
	}
	result, err := patch.NewApplier(next, draft).Plan(ctx, read)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range result.Items {
		fmt.Println(result.Describe(item))
	}
	if err := draft.Apply(ctx, result.Edits...); err != nil {
		log.Fatal(err)
	}
	fmt.Println(draft.Pending(), "edit to save")
	// Output:
	// @ /ShopData/Item[@id=1]
	// -price int 10
	// +price int 5
	// mod.lorepatch:6: /ShopData/Item[@id=1]: applied
	// 1 edit to save
}

// priced makes up a data center with the prices of a potion and a sword.
func priced(ctx context.Context, potion, sword int32) *datacenter.File {
	b, err := datacenter.NewBuilder([]string{"ShopData", "Item", "id", "price"}, datacenter.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	b.Begin("ShopData", nil, 0)
	for id, price := range []int32{potion, sword} {
		b.Begin("Item", nil, 0)
		b.Int("id", int32(id+1))
		b.Int("price", price)
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
	return dc
}
