package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// The parts of a CycloneDX bill of materials, version 1.5, that are written here.
type (
	bill struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string          `json:"type"`
		Ref        string          `json:"bom-ref"`
		Name       string          `json:"name"`
		Version    string          `json:"version"`
		Licenses   []licenseChoice `json:"licenses"`
		URL        string          `json:"purl"`
		Properties []property      `json:"properties,omitempty"`
	}
	licenseChoice struct {
		License license `json:"license"`
	}
	license struct {
		ID string `json:"id"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

const (
	// standardLibrary is how bills call the library that is part of Go, and goLicense its
	// license.
	standardLibrary = "stdlib"
	goLicense       = "BSD-3-Clause"
	ownLicense      = "Apache-2.0"
)

// marshalBill returns the bill of materials of a program.
func marshalBill(info *debug.BuildInfo, licenses map[string][]string) ([]byte, error) {
	date, err := sourceDate()
	if err != nil {
		return nil, err
	}
	own := newComponent("application", info.Main.Path, info.Main.Version, ownLicense)
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision"} {
		if value := setting(info, key); value != "" {
			own.Properties = append(own.Properties, property{key, value})
		}
	}
	b := bill{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata:   metadata{Timestamp: date.Format(time.RFC3339), Component: own},
		Components: []component{newComponent("library", standardLibrary, strings.TrimPrefix(info.GoVersion, "go"), goLicense)},
	}
	for _, m := range info.Deps {
		names := licenses[m.Path]
		if len(names) == 0 {
			return nil, fmt.Errorf("no license is listed for %s", m.Path)
		}
		m = module(m)
		c := newComponent("library", m.Path, m.Version, names...)
		c.Properties = []property{{"go.sum", m.Sum}}
		b.Components = append(b.Components, c)
	}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

// newComponent describes a module.
func newComponent(kind, path, version string, licenses ...string) component {
	url := "pkg:golang/" + path
	if version != "(devel)" {
		url += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	c := component{Type: kind, Ref: url, Name: path, Version: version, URL: url}
	for _, id := range licenses {
		c.Licenses = append(c.Licenses, licenseChoice{license{id}})
	}
	return c
}

// sourceDate returns the date that everything made of these sources has.
func sourceDate() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
