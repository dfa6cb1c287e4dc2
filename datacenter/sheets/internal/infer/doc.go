// Package infer makes out what type values have that nobody says the type of, and reads them.
// Packing and planning have it in common: a sheet that is written to gets the types that it
// would be packed with.
package infer
