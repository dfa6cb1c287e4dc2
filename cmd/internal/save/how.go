package save

// How says how a save is done. The zero value is right while programs may be in the middle of an
// edit.
type How struct {
	// Last says that no program is in the middle of an edit.
	Last bool
	// Repack writes a data center anew as a whole, even if little of it was edited.
	Repack bool
	// VerifyAll inflates and compares all of a new file, even if most of its bytes are the old ones.
	VerifyAll bool
}
