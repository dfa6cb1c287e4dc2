package fs

// OnOldKernel are options that make a mount do without what not all kernels have.
func OnOldKernel(o Options) Options {
	o.oldKernel = true
	return o
}
