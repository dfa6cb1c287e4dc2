package worldtree

// Forge changes a record of a Memory, such that it looks as if it was saved so.
func Forge(data []byte, change func(record string) string) []byte {
	record := []byte(change(string(data[digestSize:])))
	return append(digest(record), record...)
}
