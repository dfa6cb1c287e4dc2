// Package geomtest builds zones, areas and folders of them in memory for tests: small valid
// ones, ones at the limits of the formats, and deliberately broken ones.
//
// It follows the format as TERA Arise documents it, and shares only plain types with the
// reader and the writer of package geometry, so that it does not repeat their mistakes.
package geomtest
