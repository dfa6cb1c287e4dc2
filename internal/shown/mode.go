package shown

import iofs "io/fs"

// Kind names the kind of file, such as "a directory", for an error that expected another
// kind.
func Kind(mode iofs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a directory"
	case mode&iofs.ModeSymlink != 0:
		return "a link"
	case mode&iofs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&iofs.ModeSocket != 0:
		return "a socket"
	case mode&iofs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
