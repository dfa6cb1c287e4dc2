// Command bom writes which modules a Go program contains: sbom.cdx.json, a bill of materials in
// CycloneDX's form, and licenses.txt, the texts of their licenses.
//
//	bom PROGRAM NOTICE FOLDER
//
// The modules are those that the linker has written into the program. NOTICE has the names of
// their licenses. The bill's date is SOURCE_DATE_EPOCH.
package main

import (
	"debug/buildinfo"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bom: ")
	if len(os.Args) != 4 {
		log.Fatal("usage: bom PROGRAM NOTICE FOLDER")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(program, notice, folder string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("modules of the program: %w", err)
	}
	names, err := licenseNames(notice)
	if err != nil {
		return err
	}
	bill, err := marshalBill(info, names)
	if err != nil {
		return err
	}
	texts, err := licenseTexts(info)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "sbom.cdx.json"), bill, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "licenses.txt"), texts, 0o644)
}

// module returns what a program contains in the place of a module that it names.
func module(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// setting returns one of the settings that a program was built with.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
