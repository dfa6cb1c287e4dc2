package adler

// ChecksumByWords is Checksum on a processor that can't add more than a word at a time.
func ChecksumByWords(p []byte) uint32 { return finish(1, 0, p) }
