//go:build race

package testneeds

const racing = true
