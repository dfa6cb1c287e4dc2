package casctree

import (
	"encoding/hex"

	"lorefs/internal/wtf8"
)

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

func appendHex(dst, b []byte) []byte {
	dst = hex.AppendEncode(append(dst, '"'), b)
	return append(dst, '"')
}
