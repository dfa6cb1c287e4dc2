package casckind

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// cascDescription describes a CASC storage for info: the content of casc.json, and
// more. Its fields are printed in this order, and scripts rely on their names.
type cascDescription struct {
	Product     string   `json:"product,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	Version     string   `json:"version,omitempty"`
	BuildName   string   `json:"build_name,omitempty"`
	BuildUID    string   `json:"build_uid,omitempty"`
	BuildConfig string   `json:"build_config"`
	CDNConfig   string   `json:"cdn_config,omitempty"`
	Tags        []string `json:"tags"`
	Root        string   `json:"root"`
	Locale      string   `json:"locale"`
	RootEntries int64    `json:"root_entries"`
	Named       int64    `json:"named"`
	Unnamed     int64    `json:"unnamed"`
	// NotLocal and EncryptedWithoutKey are absent for a storage on a CDN.
	NotLocal            *int64 `json:"not_local,omitempty"`
	EncryptedWithoutKey *int64 `json:"encrypted_without_key,omitempty"`
	// Problems are faults that do not keep the storage from being mounted.
	Problems []string `json:"problems"`

	SourceSize  int64     `json:"source_size"`
	SourceMtime time.Time `json:"source_mtime"`

	// hint tells people of missing names.
	hint []string
}

// Describe returns the content of casc.json, which is computed from all files.
func (c *cascStorage) Describe() (kinds.Description, error) {
	ctx := context.Background()
	e, err := c.tree.Lookup(ctx, nodes.Root, "casc.json")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(kinds.ContentOf(ctx, c.tree, e))
	if err != nil {
		return nil, err
	}
	d := cascDescription{SourceSize: c.tree.Usage().Bytes, SourceMtime: c.since.UTC(), hint: c.namesHints()}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("casc.json: %w", err)
	}
	d.Problems = []string{} // the ones in casc.json may have several lines
	for _, p := range c.tree.Problems() {
		d.Problems = append(d.Problems, shown.Line(p))
	}
	return d, nil
}

func (d cascDescription) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	text := func(name, value string) {
		if value != "" {
			shown.Fprintf(t, "%s\t%s\n", name, value)
		}
	}
	text("product", d.Product)
	text("branch", d.Branch)
	text("version", d.Version)
	text("build name", d.BuildName)
	text("build config", d.BuildConfig)
	text("tags", strings.Join(d.Tags, ": "))
	shown.Fprintf(t, "root\t%s, %d entries\n", cmp.Or(d.Root, "none"), d.RootEntries)
	text("locale", d.Locale)
	shown.Fprintf(t, "named\t%d\n", d.Named)
	shown.Fprintf(t, "unnamed\t%d\n", d.Unnamed)
	for _, line := range d.hint {
		text("", line)
	}
	if d.NotLocal != nil && d.EncryptedWithoutKey != nil {
		shown.Fprintf(t, "not local\t%d\n", *d.NotLocal)
		shown.Fprintf(t, "without key\t%d\n", *d.EncryptedWithoutKey)
		shown.Fprintf(t, "archives\t%d bytes\n", d.SourceSize)
	}
	for _, p := range d.Problems {
		text("problem", p)
	}
	return t.Flush()
}
