package casc

// SpoilRoot makes s as if the root were damaged behind the files that Files has returned.
func (s *Storage) SpoilRoot(err error) { s.files.now.Store(&rootFiles{s.files.now.Load().list, err}) }
