// Package infer finds the types of values whose type is not stated, and reads them. Packing
// and planning share it, so that a sheet that is written to gets the types that packing
// would give it.
package infer
