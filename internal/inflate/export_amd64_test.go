package inflate

// portable has decoders use the portable loop until undo is called.
func portable() (undo func()) {
	before := hasHotLoop
	hasHotLoop = false
	return func() { hasHotLoop = before }
}
