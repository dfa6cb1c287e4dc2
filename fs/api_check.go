//go:build linux || darwin || freebsd

package fs

import (
	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// go-fuse finds out what a node can do by type assertion, so a method with a wrong
// signature would go unnoticed. These are the interfaces that node and handle must
// implement.
var (
	_ fusefs.InodeEmbedder   = (*node)(nil)
	_ fusefs.NodeLookuper    = (*node)(nil)
	_ fusefs.NodeGetattrer   = (*node)(nil)
	_ fusefs.NodeOpener      = (*node)(nil)
	_ fusefs.NodeFlusher     = (*node)(nil)
	_ fusefs.NodeAccesser    = (*node)(nil)
	_ fusefs.NodeReader      = (*node)(nil)
	_ fusefs.NodeReadlinker  = (*node)(nil)
	_ fusefs.NodeStatfser    = (*node)(nil)
	_ fusefs.NodeGetxattrer  = (*node)(nil)
	_ fusefs.NodeListxattrer = (*node)(nil)
	_ fusefs.NodeOnForgetter = (*node)(nil)

	_ fusefs.NodeSetattrer     = (*node)(nil)
	_ fusefs.NodeFsyncer       = (*node)(nil)
	_ fusefs.NodeCreater       = (*node)(nil)
	_ fusefs.NodeMkdirer       = (*node)(nil)
	_ fusefs.NodeMknoder       = (*node)(nil)
	_ fusefs.NodeUnlinker      = (*node)(nil)
	_ fusefs.NodeRmdirer       = (*node)(nil)
	_ fusefs.NodeRenamer       = (*node)(nil)
	_ fusefs.NodeSetxattrer    = (*node)(nil)
	_ fusefs.NodeRemovexattrer = (*node)(nil)

	_ fusefs.FileWriter   = (*handle)(nil)
	_ fusefs.FileWritever = (*handle)(nil)
	_ fusefs.FileReleaser = (*handle)(nil)

	_ fuse.RawFileSystem = (*front)(nil)
)
