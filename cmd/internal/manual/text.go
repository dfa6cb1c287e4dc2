package manual

import (
	"fmt"
	"strings"

	"github.com/russross/blackfriday/v2"

	"lorefs/cmd/internal/wrap"
)

// parse parses Markdown as md2man does, which makes the man pages.
func parse(markdown string) *blackfriday.Node {
	return blackfriday.New(blackfriday.WithExtensions(blackfriday.NoIntraEmphasis | blackfriday.Tables |
		blackfriday.FencedCode | blackfriday.SpaceHeadings)).Parse([]byte(markdown))
}

// Text returns the guide for a terminal of a width.
func (g Guide) Text(width int) string {
	p := &printer{width: width}
	p.blocks(parse(g.Markdown), "", "")
	return strings.TrimRight(p.String(), "\n")
}

// printer prints blocks of Markdown as plain text.
type printer struct {
	strings.Builder
	width int
}

// blocks prints the blocks in a node. front stands in front of the first line, and indent in
// front of the others.
func (p *printer) blocks(parent *blackfriday.Node, front, indent string) {
	for n := parent.FirstChild; n != nil; n = n.Next {
		switch n.Type {
		case blackfriday.Heading:
			text := inline(n)
			if n.Level > 1 {
				text = strings.ToUpper(text)
			}
			p.WriteString(wrap.Hang(front, text, p.width) + "\n\n")
		case blackfriday.Paragraph:
			p.WriteString(wrap.Hang(front, inline(n), p.width) + "\n")
			if n.Parent.Type != blackfriday.Item {
				p.WriteString("\n")
			}
		case blackfriday.CodeBlock:
			for line := range strings.Lines(string(n.Literal)) {
				if line != "\n" {
					p.WriteString(indent + "  ")
				}
				p.WriteString(line)
			}
			p.WriteString("\n")
		case blackfriday.List:
			p.list(n, indent)
		default:
			panic("BUG: a guide has a block that is not printed: " + n.String())
		}
		front = indent
	}
}

// list prints the items of a list.
func (p *printer) list(list *blackfriday.Node, indent string) {
	number := 0
	for item := list.FirstChild; item != nil; item = item.Next {
		number++
		mark := "- "
		if list.ListFlags&blackfriday.ListTypeOrdered != 0 {
			mark = fmt.Sprintf("%d. ", number)
		}
		p.blocks(item, indent+mark, indent+strings.Repeat(" ", len(mark)))
	}
	p.WriteString("\n")
}

// inline returns the text in a block, without markup but the back quotes around code, which show where
// it ends.
func inline(block *blackfriday.Node) string {
	var b strings.Builder
	block.Walk(func(n *blackfriday.Node, entering bool) blackfriday.WalkStatus {
		switch {
		case !entering:
		case n.Type == blackfriday.Code:
			b.WriteString("`" + string(n.Literal) + "`")
		default:
			b.Write(n.Literal)
		}
		return blackfriday.GoToNext
	})
	return b.String()
}
