package daemon

// Failure is why a mount in the background did not come, as its process said it.
type Failure struct {
	// Code is the exit code.
	Code int
	Text string
}

func (f *Failure) Error() string { return f.Text }
