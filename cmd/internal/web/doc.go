// Package web shows a source to browsers and to WebDAV clients, from the tree that a mount shows.
// It only reads.
//
//	/                   the root of the source, as a page or by PROPFIND
//	/sheets/            a folder likewise; ?json lists it, ?tar and ?zip pack all below it,
//	                    and ?find=TEXT searches it
//	/?query=EXPR        a table of what a query finds in a data center; &csv for programs
//	/sheets/X.xml       the bytes of a file; ?view shows a part of it on a page
//	/.lorefs/page.css   the files of the page itself
//	/TOKEN/sheets/      the same for a client that can neither keep a cookie nor send a password
//
// Begin with site.go, which decides what a request wants. Before that gate.go decides whether it
// is answered at all: see there for what is let in, and why. Folders come by page.go, propfind.go and
// packed.go, tables by query.go, files by content.go and view.go. errors.go is the only place where an error becomes
// a status. server.go bounds the time, the size and the number of requests.
//
// # Bytes of others
//
// What a source holds may have been made to harm who looks at it. So its bytes come with a
// policy that lets a browser run and load nothing, are downloaded unless they are plain text or a
// picture, and never have a type that was guessed. A page of ours shows them as text, escaped by
// html/template.
//
// # WebDAV
//
// Class 1 of RFC 4918, as far as reading needs it: OPTIONS, PROPFIND of depth 0 and 1, GET and
// HEAD with ranges. A listing is written while the tree lists, so that a folder of 23,510 entries costs as
// little as on a page. Depth infinity is refused: a data center has 43 million entries. Links are
// no part of a listing, because a client that copies would follow them and copy everything twice;
// they can be opened by name.
package web
