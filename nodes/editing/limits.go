package editing

// MaxTexts is how many bytes the texts of a tree may have together, unless it is told
// otherwise.
const MaxTexts = 1 << 30

// Limits are how many bytes a text may have, and all that are held together.
type Limits struct{ Text, Texts int64 }

// Refused is a text that could not become what the file holds that shows it.
type Refused struct {
	// Path is where it is in the tree.
	Path    string
	Text    []byte
	Problem error
}
