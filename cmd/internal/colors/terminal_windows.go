package colors

import (
	"os"

	"golang.org/x/sys/windows"
)

// prepare has a console take escapes for colours, as all of Windows 10 and later can.
func prepare(f *os.File) error {
	var mode uint32
	h := windows.Handle(f.Fd())
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
}
