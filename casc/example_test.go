package casc_test

import (
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"log"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
)

// A storage is an install of a game. Its files are found by the names of its root.
func Example() {
	storage, err := casc.Open(installed(), casc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer storage.Close()
	for f, err := range storage.Walk(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Name)
	}
	file, err := storage.OpenName(context.Background(), "Tables/Items.csv")
	if err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, 0, file.Size()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", text)
	// Output:
	// tables/items.csv
	// id,name
	// 7,sword
}

// installed makes up an install with one file.
func installed() iofs.FS {
	game := casctest.New()
	content := []byte("id,name\n7,sword\n")
	game.Put("tables/items.csv", content, game.Add(content))
	game.Root(game.Add(write.TextRoot(game.Files())))
	files, err := game.Install()
	if err != nil {
		log.Fatal(err)
	}
	return casctest.FS(files)
}
