package protocol_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log"

	"lorefs/protocol"
)

// A packet is read by a definition, as JSON, and comes back from that bit by bit.
func Example() {
	definition, err := protocol.Parse("C_CHAT.1.def", []byte("uint32 channel\nstring message\n"), protocol.ParseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	table, err := protocol.Compile(definition, protocol.Options{})
	if err != nil {
		log.Fatal(err)
	}
	packet, err := hex.DecodeString("1000c14f0a0001000000680069000000")
	if err != nil {
		log.Fatal(err)
	}
	text, err := table.AppendJSON(nil, packet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", text)

	message, err := table.ParseJSON(bytes.Replace(text, []byte("hi"), []byte("bye"), 1))
	if err != nil {
		log.Fatal(err)
	}
	edited, err := table.Encode(message)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%x\n", edited)
	// Output:
	// {"code":20417,"data":{"channel":1,"message":"hi"}}
	// 1200c14f0a00010000006200790065000000
}
