package casctree

import (
	"encoding/hex"

	"lorefs/internal/wtf8"
)

// appendStrings appends a list of texts.
func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wtf8.AppendJSON(dst, s)
	}
	return append(dst, ']')
}

// appendHex appends bytes as a text of hex digits.
func appendHex(dst, b []byte) []byte {
	dst = hex.AppendEncode(append(dst, '"'), b)
	return append(dst, '"')
}
