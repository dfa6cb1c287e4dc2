// Package encoding reads the encoding file, which leads from content keys to encoding keys.
//
// # Encoding file, big-endian
//
//	"EN" version:1 16:1 16:1 page_KiB:2 page_KiB:2 pages:4 pages:4 0:1 specs:4
//	( spec NUL )… ( first_key:16 md5:16 )×pages page… ( … )×pages page… own_spec
//	content page   ( count:1 size:5 ckey:16 ekey:16×count )… 0
//	encoded page   ( ekey:16 spec:4 size:5 )…
package encoding
