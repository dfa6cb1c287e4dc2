//go:build linux || darwin || freebsd

package fs

// SettleTime is the longest time that a request waits for notices of its changes elsewhere.
const SettleTime = settleTime
