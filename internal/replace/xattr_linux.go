package replace

import "golang.org/x/sys/unix"

// noAttribute is the error of an attribute that is gone.
const noAttribute = unix.ENODATA
