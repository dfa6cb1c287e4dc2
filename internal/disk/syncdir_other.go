//go:build !unix

package disk

// SyncDir does nothing: folders can't be synced here.
func (OS) SyncDir(string) error { return nil }
