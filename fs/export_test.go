package fs

// SettleTime is the longest time that a request waits for notices of its changes elsewhere.
const SettleTime = settleTime

// OnOldKernel returns options that make a mount work as on old kernels.
func OnOldKernel(o Options) Options {
	o.oldKernel = true
	return o
}
