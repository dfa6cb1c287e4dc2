package diskspace

import (
	"syscall"

	"golang.org/x/sys/windows"
)

var fullErrors = []error{syscall.ENOSPC, windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
