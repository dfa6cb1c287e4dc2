package capture_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"lorefs/protocol/capture"
)

// A recorded session is opened once, and its packets are read one by one.
func Example() {
	const recorded = `# time, direction, name and packet
1700000000000 C->S C_CHAT 1000c14f0a0001000000680069000000
1700000000250 S->C S_PING 0400d204
`
	session, err := capture.Open(context.Background(), strings.NewReader(recorded), int64(len(recorded)), capture.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Info().Format, "with", session.Len(), "packets")
	for i := range session.Len() {
		packet, err := session.Packet(i, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(packet.Time.UTC(), packet.From, packet.Name, packet.Code(), len(packet.Data))
	}
	// Output:
	// hex lines with 2 packets
	// 2023-11-14 22:13:20 +0000 UTC client C_CHAT 20417 16
	// 2023-11-14 22:13:20.25 +0000 UTC server S_PING 1234 4
}
