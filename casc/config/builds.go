package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/shown"
)

const (
	buildInfo format.Name = ".build.info"
	buildDB   format.Name = ".build.db"
)

// Build is a row of .build.info or .build.db: an installed product, or one of its builds.
type Build struct {
	// Active marks the row that counts if a product has several.
	Active bool
	// Product is the program's code, such as "wow"; it is often empty.
	Product string
	// Branch is the region, Version the version of the build.
	Branch, Version string
	// BuildKey and CDNKey name the build and CDN configurations. CDNKey may be
	// zero.
	BuildKey, CDNKey keys.Key
	// KeyRing names the key ring configuration; it may be zero.
	KeyRing keys.Key
	// Tags are groups of words, such as "Windows x86_64 US? enUS speech?".
	Tags []string
	// Columns are all cells as they stand, by the name of their column.
	Columns map[string]string
	// Err says why the row can't be used: it has no build key, as for a product that is not
	// installed yet, or it has bad cells.
	Err error
}

// ParseBuildInfo reads a .build.info: a line of columns NAME!TYPE:SIZE, then a line for
// each build, with bars between the cells. There may be any columns in any order; only the
// build key is needed. The table "versions" of a CDN has the same form, with other names of
// columns. A row that can't be used has Err.
func ParseBuildInfo(data []byte) ([]Build, error) {
	var columns []string
	var builds []Build
	for off, line := range format.Lines(data) {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "##"):
		case columns == nil:
			for c := range strings.SplitSeq(strings.TrimPrefix(line, "\ufeff"), "|") {
				name, _, _ := strings.Cut(c, "!")
				columns = append(columns, name)
			}
			if !slices.Contains(columns, "Build Key") && !slices.Contains(columns, "BuildConfig") {
				return nil, buildInfo.Bad(off, "no column Build Key in %.80q", line)
			}
		default:
			builds = append(builds, parseBuild(off, columns, strings.Split(line, "|")))
		}
	}
	if len(builds) == 0 {
		return nil, buildInfo.Bad(int64(len(data)), "no build")
	}
	return builds, nil
}

func parseBuild(off int64, columns, cells []string) Build {
	b := Build{Columns: make(map[string]string, len(columns))}
	for i, cell := range cells[:min(len(cells), len(columns))] {
		b.Columns[columns[i]] = cell
	}
	b.Err = b.parseKeys(off)
	if len(cells) > len(columns) {
		b.Err = buildInfo.Bad(off, "%d cells in %d columns", len(cells), len(columns))
	}
	active, stated := b.Columns["Active"]
	b.Active = !stated || active == "1"
	b.Product, b.Branch, b.Version = b.Columns["Product"], b.cell("Branch", "Region"), b.cell("Version", "VersionsName")
	b.Tags = splitTags(b.Columns["Tags"])
	return b
}

// cell returns the cell of a column that .build.info and the table "versions" of a CDN name
// differently.
func (b *Build) cell(name, inVersions string) string {
	return cmp.Or(b.Columns[name], b.Columns[inVersions])
}

// parseKeys reads the cells of a .build.info that are keys.
func (b *Build) parseKeys(off int64) (err error) {
	for _, column := range []struct {
		name, inVersions string
		key              *keys.Key
	}{{"Build Key", "BuildConfig", &b.BuildKey}, {"CDN Key", "CDNConfig", &b.CDNKey}, {"KeyRing", "KeyRing", &b.KeyRing}} {
		text := b.cell(column.name, column.inVersions)
		if text == "" {
			continue
		}
		if *column.key, err = keys.Parse(text); err != nil {
			return &format.Error{Format: string(buildInfo), Off: off, What: "column " + column.name, Err: err}
		}
	}
	if b.BuildKey.IsZero() {
		return buildInfo.Bad(off, "a row without build key")
	}
	return nil
}

func splitTags(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ":")
}

// ParseBuildDB reads the .build.db of early installs, by description only: lines of cells
// with bars between them, without column names. They are the build key, the CDN key, and
// the tags.
func ParseBuildDB(data []byte) ([]Build, error) {
	var builds []Build
	for off, line := range format.Lines(data) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		cells := strings.Split(strings.TrimPrefix(line, "\ufeff"), "|")
		b := Build{Active: true, Columns: map[string]string{}}
		for i, cell := range cells {
			b.Columns[strconv.Itoa(i)] = cell
		}
		var err error
		if len(cells) > 1 && cells[1] != "" {
			if b.CDNKey, err = keys.Parse(cells[1]); err != nil {
				b.Err = &format.Error{Format: string(buildDB), Off: off, What: "CDN key", Err: err}
			}
		}
		if b.BuildKey, err = keys.Parse(cells[0]); err != nil {
			b.Err = &format.Error{Format: string(buildDB), Off: off, What: "build key", Err: err}
		}
		if len(cells) > 2 {
			b.Tags = splitTags(cells[2])
		}
		builds = append(builds, b)
	}
	if len(builds) == 0 {
		return nil, buildDB.Bad(int64(len(data)), "no build")
	}
	return builds, nil
}

// ProductError reports that no build of a product is active, or that none of several is.
type ProductError struct {
	// Product is the product that was asked for; empty for any.
	Product string
	// Installed are the products in the folder that have a name.
	Installed []string
}

func (e *ProductError) Error() string {
	text := "casc: no build is active"
	if e.Product != "" {
		text = fmt.Sprintf("casc: no build of product %s is active", shown.Quote(e.Product))
	}
	if len(e.Installed) > 0 {
		text += "; installed are " + listed(e.Installed, ", ")
	}
	return text
}

// NoConfigError reports that the configuration of the chosen build is missing, while others
// could be opened.
type NoConfigError struct {
	// Product is the chosen product, or empty. Inactive says that it is not active.
	Product  string
	Inactive bool
	// Others are the products that can be asked for instead, if none was asked for. Builds are
	// those whose configurations are there.
	Others []string
	Builds []FoundBuild
	Err    error
}

func (e *NoConfigError) Error() string {
	text := e.Err.Error()
	switch {
	case len(e.Others) > 0:
		text = fmt.Sprintf("product %s, which was taken as the first that is active: %s; installed too: %s", shown.Quote(e.Product), text, listed(e.Others, ", "))
	case e.Inactive:
		text = fmt.Sprintf("product %s, which is not active: %s", shown.Quote(e.Product), text)
	}
	if len(e.Builds) > 0 {
		text += "; there are these builds: " + listBuilds(e.Builds)
	}
	return text
}

func (e *NoConfigError) Unwrap() error { return e.Err }

// SelectBuild returns the active build of product, or the first active build if product is
// empty. A row without product matches any. If no row is active, a single row is taken as
// it is. Rows with Err come last, and their error is returned if there are no others.
// Otherwise the error is a ProductError.
func SelectBuild(builds []Build, product string) (Build, error) {
	of := func(b *Build) bool {
		return product == "" || b.Product == "" || strings.EqualFold(b.Product, product)
	}
	var found []Build
	for i := range builds {
		if of(&builds[i]) {
			found = append(found, builds[i])
		}
	}
	slices.SortStableFunc(found, func(a, b Build) int { return cmp.Compare(a.place(), b.place()) })
	if len(found) == 1 || len(found) > 1 && found[0].Active {
		return found[0], found[0].Err
	}
	return Build{}, &ProductError{Product: product, Installed: products(builds, func(*Build) bool { return true })}
}

// place orders rows: active rows that can be used, other active rows, and the rest.
func (b *Build) place() int {
	switch {
	case b.Active && b.Err == nil:
		return 0
	case b.Active:
		return 1
	}
	return 2
}

// ActiveProducts returns the products with an active build.
func ActiveProducts(builds []Build) []string {
	return products(builds, func(b *Build) bool { return b.Active && b.Err == nil })
}

// products returns the names of the products of some builds, each once.
func products(builds []Build, of func(*Build) bool) (names []string) {
	for i := range builds {
		b := &builds[i]
		if b.Product != "" && of(b) && !slices.Contains(names, b.Product) {
			names = append(names, b.Product)
		}
	}
	return names
}
