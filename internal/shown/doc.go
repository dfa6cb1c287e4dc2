// Package shown makes text of others fit to be shown: names and values of sources, paths,
// and errors that quote them. A name with an escape sequence in it could else move the
// cursor, change what is on the screen or, on some terminals, type commands.
//
// These characters are escaped, and no others:
//
//   - control characters, those of C1 (U+0080 to U+009F) among them, as \n, \r, \t or \u001b;
//   - format characters, as those that turn the direction of text, and the separators of
//     lines and paragraphs: \u202e;
//   - bytes that are no UTF-8: \xff.
//
// A backslash stands for itself, so that paths of Windows stay readable: what is shown can't
// be turned back. All escapes but the last and \U000e0001 are those of JSON, and a document
// that is shown is still one of the same value.
//
// Messages and reports are escaped wherever they go ([Fprintf]). Data, such as the names
// that ls prints, are escaped by [NewWriter] on a terminal; scripts get them byte for byte.
package shown
