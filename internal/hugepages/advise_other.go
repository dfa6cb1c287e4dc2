//go:build !linux

package hugepages

func advise[T any]([]T) {}

func heap(int) {}

func fill[T any]([]T) {}
