// Package query finds nodes and attributes of a data center by expressions that are a part
// of XPath 1.0. [Compile] reads an expression, and [Query.Run] finds what it says:
//
//	/ItemData/Item[@id=5001]/@rank
//	//Skill[@templateId=1 and Property/@attackRange>100]
//	/StrSheet_Item/String[contains(@string,'sword')] | //Quest[last()]
//
// The grammar, in which space may stand between any two parts:
//
//	query     = path { "|" path }
//	path      = ( "(" steps ")" "[" INTEGER "]" | ( "/" | "//" ) step ) [ steps ]
//	steps     = ( "/" | "//" ) step { ( "/" | "//" ) step }
//	step      = name { "[" predicate "]" } | "@" name | "text()"
//	name      = NAME | "{" any text "}" | "*"
//	predicate = INTEGER | "last()" | or
//	or        = and { "or" and }
//	and       = condition { "and" condition }
//	condition = "not(" or ")" | "(" or ")"
//	          | "contains(" relative "," TEXT ")" | "starts-with(" relative "," TEXT ")"
//	          | relative [ compare value ] | value compare relative
//	          | "position()" compare ( INTEGER | "last()" )
//	relative  = step { ( "/" | "//" ) step }
//	compare   = "=" | "!=" | "<" | "<=" | ">" | ">="
//	value     = NUMBER | TEXT | "true" | "false"
//
// A NAME is of letters, digits, "_", "-", "." and anything that is not ASCII, and begins
// with no digit, "-" or "."; all other names are put in braces, in which }} stands for one
// }. A TEXT is in either quote, which is doubled to stand for itself. A NUMBER is decimal
// and may have a sign, a fraction and an exponent. {true} is a child of that name, where
// true is the value.
//
// # Meaning
//
// The root is the node __root__, so the first step finds sheets. "/" goes to the children
// of a node, "//" to all nodes below it. For an attribute, "/" stays at the node, and "//"
// means the node and all below it. An attribute ends a path. text() is a node's text, the
// attribute __value__, which @* finds as well.
//
// [n] and position() count, from 1 on, the children of one parent that the step and the
// predicates before select, as in XPath: //A[1] is each A that is the first of its parent,
// and (//A)[1] the first of all. A number is a position only if it is the whole predicate.
//
// A relative path alone asks whether there is such a node or attribute. A comparison is
// true if it holds for any of the nodes or attributes that its path finds: [@a!='x'] is
// false for a node without a, unlike [not(@a='x')]. A node stands for its text; a
// comparison with a node without text is false.
//
// How values compare depends on the type of the attribute:
//
//   - an int, and a float, with a number, in quotes or not: as numbers. For a
//     float the number is first rounded to what a float can hold, so that 0.1 finds
//     what is shown as 0.1.
//   - a bool with true and false, in quotes or not, as such; with a number, as 1 and 0.
//   - a string with a text, true or false: by "=" and "!=" as they are spelled.
//   - a string with a number, or by "<" to ">=": as numbers, if both are numbers.
//
// Everything else, such as an int with 'abc', compares by spelling: it may be equal or not,
// but is neither less nor greater. contains and starts-with look at the spelling of any
// type, which is that of the mount.
//
// # Implementation
//
// Matches come in the order of the file, each once, as a walk meets them. Memory is needed
// for one level for each node above, and for the stored runs of children that are known to
// have no match: many nodes share a run, and such a run is walked once. That takes two
// bytes for each stored node, for up to eight sets of steps.
//
// Key definitions are not used: nothing guarantees that a file's siblings are in the order
// of their keys, and a binary search would miss some.
//
// # Not supported
//
// Axes, "..", ".", arithmetic, comparison of two paths, predicates on attributes, and other
// functions. They are errors of Compile. A query may have 64 steps outside of predicates,
// and so may each path in a predicate.
package query
