package daemon

// Failure is the error of a mount in the background, from its process.
type Failure struct {
	Code int
	Text string
}

func (f *Failure) Error() string { return f.Text }
