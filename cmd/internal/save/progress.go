package save

// Progress is how far a save is.
type Progress struct {
	// Stage says what is being done: [Writing] or [Checking].
	Stage string `json:"stage"`
	// Done and Total measure the work of all stages, in no particular unit. They are estimates.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// Percent returns how much of the work is done.
func (p Progress) Percent() int64 {
	if p.Total <= 0 {
		return 0
	}
	return int64(float64(p.Done) / float64(p.Total) * 100)
}

// The stages of a save.
const (
	Writing  = "writing"
	Checking = "checking"
)
