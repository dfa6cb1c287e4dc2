// Package origin knows how the place of a source is spelled:
//
//	PATH                         a file or a folder
//	cdn:PRODUCT                  a build that the hosts of a CDN have
//	http://HOST/PATH             an object of a web server, or a tree of them
//	https://HOST/PATH
//	s3://BUCKET/PREFIX           an object of an object store, or those below a prefix
//
// A name that begins with one of the schemes is never a path, even if there is a file called
// so: what a name means must not depend on what lies in a folder. ./cdn:wow is the file. Names
// with another word before a colon are paths, so C:\x and C:/x are as well.
package origin
