//go:build !amd64

package inflate

const hasHotLoop = false

// decodeHot is never called.
func (*Decoder) decodeHot([]byte, int, int) (int, string) { return 0, "" }
