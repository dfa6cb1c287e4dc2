package fs

// OnOldKernel returns options that make a mount work as on old kernels.
func OnOldKernel(o Options) Options {
	o.oldKernel = true
	return o
}
