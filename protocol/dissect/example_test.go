package dissect_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// The packets of a recorded session get their names by a map, and their fields by definitions.
func Example() {
	ctx := context.Background()
	library, err := protocol.OpenLibrary(fstest.MapFS{
		"protocol.376012.map": {Data: []byte("C_CHAT 20417\n")},
		"C_CHAT.1.def":        {Data: []byte("uint32 channel\nstring message\n")},
	}, protocol.LibraryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	const recorded = "1700000000000 C->S 1000c14f0a0001000000680069000000\n1700000000250 S->C 0400d204\n"
	session, err := dissect.Open(ctx, strings.NewReader(recorded), int64(len(recorded)), capture.Options{}, library, dissect.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for block, err := range session.Lines(ctx, session.All()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s", block.Text)
	}
	summary, err := session.Summary(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Decoded, "decoded,", summary.Unknown, "unknown")
	// Output:
	// {"number":0,"time":"2023-11-14T22:13:20Z","from":"client","name":"C_CHAT","definition":"C_CHAT.1","packet":{"code":20417,"data":{"channel":1,"message":"hi"}}}
	// {"number":1,"time":"2023-11-14T22:13:20.25Z","from":"server","name":"1234","hex":"0400d204"}
	// 1 decoded, 1 unknown
}
