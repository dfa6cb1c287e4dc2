// Package shown makes text of others safe to show: names and values of sources, paths, and
// errors that quote them. A name with an escape sequence could otherwise move the cursor,
// change the screen or, on some terminals, type commands.
//
// These characters are escaped, and no others:
//
//   - control characters, including those of C1 (U+0080 to U+009F), as \n, \r, \t or \u001b;
//   - format characters, such as those that change the direction of text, and the separators of
//     lines and paragraphs: \u202e;
//   - bytes that are not UTF-8: \xff.
//
// A backslash stands for itself, so that paths of Windows stay readable; so escaping can't
// be reversed. All escapes but the last and \U000e0001 are those of JSON, and an escaped
// JSON document has the same value.
//
// Messages and reports are always escaped ([Fprintf]). Data, such as the names that ls
// prints, are escaped by [NewWriter] on a terminal; scripts get them byte for byte.
package shown
