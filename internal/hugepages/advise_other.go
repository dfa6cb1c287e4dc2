//go:build !linux

package hugepages

func advise[T any]([]T) {}

func fill[T any]([]T) {}
