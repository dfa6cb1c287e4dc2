// Package cdntest serves CASC storages as the hosts of a CDN do, for tests: the objects, and the
// tables that say which build there is.
package cdntest

import (
	"fmt"
	"path"
	"strings"

	"lorefs/casc/casctest/write"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/remote/remotetest"
)

// Product is the product that all have.
const Product = "sample"

// storagePath and configPath are where objects and product configurations lie.
const (
	storagePath = "tpr/sample"
	configPath  = "tpr/configs/data"
)

// Server has hosts with the same objects, and one more with the tables.
type Server struct {
	// Objects are the hosts, Tables the other one.
	Objects, Tables *remotetest.Server
}

// Start starts a number of hosts that have a storage.
func Start(hosts int, c *write.CDN, version string) *Server {
	s := &Server{Objects: remotetest.Start(hosts), Tables: remotetest.Start(1)}
	s.Put(c, version, "")
	return s
}

// Put gives the hosts another build, which is the latest from now on. productConfig is the text
// of the configuration of the product, if there is one.
func (s *Server) Put(c *write.CDN, version, productConfig string) {
	for name, data := range c.Files {
		s.Objects.Put(path.Join(storagePath, name), data)
	}
	product := ""
	if productConfig != "" {
		key := write.Key([]byte(productConfig)).String()
		s.Objects.Put(path.Join(configPath, key[:2], key[2:4], key), []byte(productConfig))
		product = key
	}
	s.Tables.Put("v2/products/"+Product+"/versions", fmt.Appendf(nil,
		"Region!STRING:0|BuildConfig!HEX:16|CDNConfig!HEX:16|KeyRing!HEX:16|BuildId!DEC:4|VersionsName!String:0|ProductConfig!HEX:16\n## seqn = 7\n"+
			"us|%v|%v||%s|%s|%s\n", c.Build, c.Config, version[strings.LastIndexByte(version, '.')+1:], version, product))
	// The hosts are given, since a list could name none on this machine.
	s.Tables.Put("v2/products/"+Product+"/cdns", []byte(
		"Name!STRING:0|Path!STRING:0|Hosts!STRING:0|Servers!STRING:0|ConfigPath!STRING:0\n"+
			"us|"+storagePath+"|nowhere.example.com|http://nowhere.example.com/?maxhosts=4|"+configPath+"\n"))
}

// Hosts returns the URLs of the hosts.
func (s *Server) Hosts() []string { return urls(s.Objects) }

// VersionHost returns the URL of the host with the tables.
func (s *Server) VersionHost() string { return urls(s.Tables)[0] }

func urls(s *remotetest.Server) (all []string) {
	for _, h := range s.Hosts() {
		all = append(all, h.URL)
	}
	return all
}

// Options returns the options of a source that is read from the hosts, with a folder for what is
// fetched.
func (s *Server) Options(cache string) *kinds.Options {
	o := &kinds.Options{CacheSize: 64 << 20, CacheBase: cache}
	o.CASC.CDN = kinds.CDNOptions{Hosts: s.Hosts(), VersionHosts: []string{s.VersionHost()}, CacheDir: cache + "/cdn"}
	return o
}

// Reset forgets what was asked.
func (s *Server) Reset() {
	s.Objects.Reset()
	s.Tables.Reset()
}

// Asked returns how many objects were asked for besides indexes, how many indexes, and how
// often the tables.
func (s *Server) Asked() (objects, indexes, tables int) {
	for _, r := range s.Objects.Requests() {
		if strings.HasSuffix(r.Path, ".index") {
			indexes++
		} else {
			objects++
		}
	}
	return objects, indexes, len(s.Tables.Requests())
}

// Close ends the hosts.
func (s *Server) Close() {
	s.Objects.Close()
	s.Tables.Close()
}
