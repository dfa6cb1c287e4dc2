// Package labels finds what players see in place of numbers: the texts of a data center that name its other nodes.
//
// An Item of ItemData has a number, and StrSheet_Item has a String with the same number, whose text the game shows. No
// file says that the one names the other. So it is found out from the data, by two signs that both have to be there:
//
//   - the names: StrSheet_X is for a sheet X, XData, XList or XTemplateData;
//   - the numbers: by chance, so many nodes would have a text of their number less often than once in e^20 files. Where
//     the numbers of texts leave no gaps, as 1 to 12 do, chance explains everything. There the numbers of both sheets
//     have to be the same, but for a tenth.
//
// In a real data center (patch 100) that finds 16 pairs, all of which are right, and rejects 42 others that the names alone would make,
// such as that of BoardData with the headings in StrSheet_Board. A wrong name is worse than none: so a number that has two
// texts has none, and neither has a node that texts of two sheets fit.
//
// Creatures have a number in each hunting zone. Their texts are known by name: NpcData/Template and
// StrSheet_Creature/HuntingZone/String. The numbers have to fit as well.
package labels

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"lorefs/datacenter"
)

// Labels are the texts of a file. Nothing is read before it is needed, and then once. They are safe for parallel use.
type Labels struct {
	file *datacenter.File

	mu sync.Mutex // guards the fields below, also while the file is read
	// sheets are by their names in lower case.
	sheets map[string][]datacenter.Node
	// pairs are by the names of a sheet and its child; nil for one without texts.
	pairs map[[2]string]*Pair
}

// New returns the texts of a file.
func New(f *datacenter.File) *Labels {
	return &Labels{file: f, pairs: map[[2]string]*Pair{}}
}

// Pair says which texts name which nodes.
type Pair struct {
	// Sheet and Child are the nodes with a number, Strings the sheet with the texts.
	Sheet, Child, Strings string
	// Nodes is how many numbers the nodes have, and Named how many of them have a text.
	Nodes, Named int

	form  form
	texts map[key]string // "" for one with several
}

// key is the number of a node, and that of its sheet if that counts.
type key struct{ outer, id int32 }

// form says where numbers and texts are.
type form struct {
	// outer is the attribute of a sheet that counts, or empty.
	outer string
	// middle is the node between the sheet of texts and them, or empty, and textID the number of a text.
	middle, leaf, textID string
}

const (
	prefix = "strsheet_"
	idName = "id"
)

// suffixes are what the name of a sheet has besides that of its texts.
var suffixes = []string{"", "data", "list", "templatedata"}

// shown are the attributes with the text, the first of which counts that any node has.
var shown = []string{"name", "string", "__value__"}

// creatureSheet has what creatures name, which are the texts that are known by name.
const creatureSheet = "NpcData"

var creatures = form{outer: "huntingZoneId", middle: "HuntingZone", leaf: "String", textID: "templateId"}

// Of returns what names a child of a sheet. ok is false if nothing does.
func (l *Labels) Of(ctx context.Context, sheet, child datacenter.Node) (text string, ok bool, err error) {
	p, err := l.Pair(ctx, sheet.Name(), child.Name())
	if err != nil || p == nil {
		return "", false, err
	}
	k, ok, err := p.keyOf(sheet, child)
	if err != nil || !ok {
		return "", false, err
	}
	text = p.texts[k]
	return text, text != "", nil
}

// At returns what names the child of a sheet that is at a place, or "": the nth of its name among the children of
// the nth sheet of its name, both counted from 1.
func (l *Labels) At(ctx context.Context, sheet string, nthSheet int, child string, nthChild int) (text string, err error) {
	p, err := l.Pair(ctx, sheet, child)
	if err != nil || p == nil {
		return "", err
	}
	top, err := l.file.Root()
	if err != nil {
		return "", err
	}
	s, ok, err := nth(top, sheet, nthSheet)
	if err != nil || !ok {
		return "", err
	}
	c, ok, err := nth(s, child, nthChild)
	if err != nil || !ok {
		return "", err
	}
	text, _, err = l.Of(ctx, s, c)
	return text, err
}

// nth returns the nth child of a name.
func nth(of datacenter.Node, name string, n int) (datacenter.Node, bool, error) {
	first, ok, err := of.Child(name)
	if err != nil || !ok || n <= 1 {
		return first, ok, err
	}
	return of.ChildNamed(first.NameIndex(), n-1)
}

// Pair returns which texts name the children of a name in sheets of a name, or nil.
func (l *Labels) Pair(ctx context.Context, sheet, child string) (*Pair, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := [2]string{sheet, child}
	if p, ok := l.pairs[at]; ok {
		return p, nil
	}
	p, err := l.find(ctx, sheet, child)
	if err == nil {
		l.pairs[at] = p
	}
	return p, err
}

// Pairs returns all pairs that the file has, in the order of its sheets.
func (l *Labels) Pairs(ctx context.Context) (all []*Pair, err error) {
	top, err := l.file.Root()
	if err != nil {
		return nil, err
	}
	seen := map[[2]string]bool{}
	for s, err := range top.Children() {
		if err != nil {
			return nil, err
		}
		if !l.mayHave(s.Name()) {
			continue
		}
		for c, err := range s.Children() {
			if err != nil {
				return nil, err
			}
			at := [2]string{s.Name(), c.Name()}
			if seen[at] {
				continue
			}
			seen[at] = true
			p, err := l.Pair(ctx, at[0], at[1])
			if err != nil {
				return nil, err
			}
			if p != nil {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// mayHave reports whether there may be texts for a sheet of a name, by the names of all sheets.
func (l *Labels) mayHave(sheet string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.index() != nil {
		return true // reading it tells why
	}
	folded := strings.ToLower(sheet)
	return sheet == creatureSheet || slices.ContainsFunc(suffixes, func(suffix string) bool {
		base, is := strings.CutSuffix(folded, suffix)
		return is && len(l.sheets[prefix+base]) > 0
	})
}

// find finds out which texts name nodes.
func (l *Labels) find(ctx context.Context, sheet, child string) (found *Pair, err error) {
	if err := l.index(); err != nil {
		return nil, err
	}
	folded := strings.ToLower(sheet)
	for _, suffix := range suffixes {
		base, is := strings.CutSuffix(folded, suffix)
		if !is || base == "" || strings.HasPrefix(folded, prefix) {
			continue
		}
		forms, err := l.formsOf(prefix + base)
		if err != nil {
			return nil, err
		}
		for _, f := range forms {
			if found, err = l.better(ctx, found, sheet, child, prefix+base, f); err != nil {
				return nil, err
			}
		}
	}
	if sheet == creatureSheet && child == "Template" {
		if found, err = l.better(ctx, found, sheet, child, "strsheet_creature", creatures); err != nil {
			return nil, err
		}
	}
	if found != nil && found.texts == nil {
		return nil, nil //nolint:nilnil // several sheets have texts for them
	}
	return found, nil
}

// better returns found, or the pair of some texts if they fit. If both do, it returns one without texts.
func (l *Labels) better(ctx context.Context, found *Pair, sheet, child, texts string, f form) (*Pair, error) {
	strings := l.sheets[texts]
	if len(strings) == 0 {
		return found, nil
	}
	p := &Pair{Sheet: sheet, Child: child, Strings: strings[0].Name(), form: f}
	fits, err := l.read(ctx, p, strings)
	switch {
	case err != nil || !fits:
		return found, err
	case found != nil:
		return &Pair{}, nil
	}
	return p, nil
}

// index notes where sheets are.
func (l *Labels) index() error {
	if l.sheets != nil {
		return nil
	}
	top, err := l.file.Root()
	if err != nil {
		return err
	}
	sheets := map[string][]datacenter.Node{}
	for s, err := range top.Children() {
		if err != nil {
			return err
		}
		name := strings.ToLower(s.Name())
		sheets[name] = append(sheets[name], s)
	}
	l.sheets = sheets
	return nil
}

// formsOf returns the forms of texts that a sheet has: one for each name of its children.
func (l *Labels) formsOf(texts string) (forms []form, err error) {
	seen := map[string]bool{}
	for _, s := range l.sheets[texts] {
		for c, err := range s.Children() {
			if err != nil {
				return nil, err
			}
			if name := c.Name(); !seen[name] {
				seen[name] = true
				forms = append(forms, form{leaf: name, textID: idName})
			}
		}
	}
	return forms, nil
}

// read reads the texts of a pair, and reports whether they are of its nodes.
func (l *Labels) read(ctx context.Context, p *Pair, texts []datacenter.Node) (fits bool, err error) {
	if err := p.readTexts(ctx, texts); err != nil || len(p.texts) == 0 {
		return false, err
	}
	ids := map[key]bool{}
	for _, s := range l.sheets[strings.ToLower(p.Sheet)] {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		for c, err := range s.Children() {
			if err != nil {
				return false, err
			}
			if s.Name() != p.Sheet || c.Name() != p.Child {
				continue
			}
			k, ok, err := p.keyOf(s, c)
			if err != nil {
				return false, err
			}
			if ok {
				ids[k] = true
			}
		}
	}
	return p.fits(ids), nil
}

// keyOf returns the number of a node.
func (p *Pair) keyOf(sheet, child datacenter.Node) (k key, ok bool, err error) {
	if p.form.outer != "" {
		if k.outer, ok, err = number(sheet, p.form.outer); err != nil || !ok {
			return k, false, err
		}
	}
	k.id, ok, err = number(child, idName)
	return k, ok, err
}

// number returns the value of an attribute that is a number.
func number(n datacenter.Node, name string) (v int32, ok bool, err error) {
	a, ok, err := n.Attr(name)
	if err != nil || !ok || a.Type() != datacenter.Int {
		return 0, false, err
	}
	return a.Int(), true, nil
}

// readTexts reads the texts of sheets.
func (p *Pair) readTexts(ctx context.Context, sheets []datacenter.Node) error {
	lists, numbers := make([]map[key]string, len(shown)), map[key]bool{}
	for i := range lists {
		lists[i] = map[key]string{}
	}
	leaf := func(n datacenter.Node, outer int32) error {
		if n.Name() != p.form.leaf {
			return nil
		}
		id, ok, err := number(n, p.form.textID)
		if err != nil || !ok {
			return err
		}
		numbers[key{outer, id}] = true
		for i, name := range shown {
			if err := addText(lists[i], key{outer, id}, n, name); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range sheets {
		for c, err := range s.Children() {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && p.form.middle == "" {
				err = leaf(c, 0)
			}
			if err == nil && p.form.middle != "" && c.Name() == p.form.middle {
				err = below(c, leaf)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		p.texts = list
		for k := range numbers { // a number without a text tells what the numbers are of
			p.texts[k] = list[k]
		}
		return nil
	}
	return nil
}

// below calls leaf for the children of a node with a number.
func below(n datacenter.Node, leaf func(datacenter.Node, int32) error) error {
	outer, ok, err := number(n, idName)
	if err != nil || !ok {
		return err
	}
	for c, err := range n.Children() {
		if err == nil {
			err = leaf(c, outer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addText adds the text of an attribute, if the node has it. Of two texts there is none.
func addText(list map[key]string, k key, n datacenter.Node, name string) error {
	a, ok, err := n.Attr(name)
	if err != nil || !ok || a.Type() != datacenter.String {
		return err
	}
	v, err := a.Value()
	if err != nil {
		return err
	}
	text := v.Text()
	if old, again := list[k]; again && old != text {
		text = ""
	}
	list[k] = text
	return nil
}

const (
	// fewest is how many nodes tell something.
	fewest = 8
	// sure is how sure it has to be that numbers are not the same by chance, as the logarithm of the odds.
	sure = 20
	// most is the least share of nodes that have a text, and all that of both where chance explains everything.
	most, all = 0.5, 0.9
)

// fits reports whether the texts are those of nodes with these numbers.
func (p *Pair) fits(ids map[key]bool) bool {
	p.Nodes = len(ids)
	for k := range ids {
		if _, ok := p.texts[k]; ok {
			p.Named++
		}
	}
	share := float64(p.Named) / float64(max(p.Nodes, 1))
	if p.Nodes < fewest || share < most {
		return false
	}
	if divergence(share, p.density(ids))*float64(p.Nodes) >= sure {
		return true
	}
	return share >= all && float64(p.Named) >= all*float64(len(p.texts))
}

// density returns which share of all numbers between the least and the largest of the nodes have a text.
func (p *Pair) density(ids map[key]bool) float64 {
	type span struct{ low, high int32 }
	spans := map[int32]span{}
	for k := range ids {
		s, ok := spans[k.outer]
		if !ok {
			s = span{k.id, k.id}
		}
		spans[k.outer] = span{min(s.low, k.id), max(s.high, k.id)}
	}
	texts, numbers := 0.0, 0.0
	for _, s := range spans {
		numbers += float64(s.high) - float64(s.low) + 1
	}
	for k := range p.texts {
		if s, ok := spans[k.outer]; ok && s.low <= k.id && k.id <= s.high {
			texts++
		}
	}
	return texts / numbers
}

// divergence is that of Kullback and Leibler between two odds: by Chernoff's bound, n times as much is how unlikely it is
// that of n numbers a share has a text by chance.
func divergence(share, chance float64) float64 {
	if share <= chance {
		return 0
	}
	part := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return part(share, chance) + part(1-share, 1-chance)
}
