package diskspace

import (
	"math"

	"golang.org/x/sys/windows"
)

// Of returns the space of a folder's file system.
func Of(dir string) (Space, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Space{}, err
	}
	var free, total uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &total, nil); err != nil {
		return Space{}, err
	}
	return Space{Free: int64(min(free, math.MaxInt64)), Total: int64(min(total, math.MaxInt64))}, nil
}
