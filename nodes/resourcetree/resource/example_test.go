package resource_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"

	"lorefs/nodes/resourcetree/resource"
)

// A container of two files is written and read.
func Example() {
	var file bytes.Buffer
	err := resource.Write(&file, slices.Values([]resource.File{
		{Name: "loading_0001.txt", Size: 17, Content: strings.NewReader("Once upon a time ")},
		{Name: "loading_0002.txt", Size: 13, Content: strings.NewReader("in Aldermoor.")},
	}))
	if err != nil {
		log.Fatal(err)
	}
	c, err := resource.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	for i := range c.Len() {
		text := make([]byte, c.Size(i))
		if _, err := c.ReadAt(i, text, 0); err != nil && err != io.EOF { //nolint:errorlint // it is returned as it is
			log.Fatal(err)
		}
		fmt.Printf("%s: %q\n", c.Name(i), text)
	}
	// Output:
	// loading_0001.txt: "Once upon a time "
	// loading_0002.txt: "in Aldermoor."
}
