//go:build !unix

package daemon

import "net"

// refuse does nothing here, where nothing is mounted.
func refuse(*net.UnixListener) (waiting []net.Conn, err error) { return nil, nil }
