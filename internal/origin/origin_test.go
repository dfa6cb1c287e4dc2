package origin

import (
	"path/filepath"
	"testing"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]Origin{
		"cdn:wow":               {CDN, "wow"},
		"CDN:wow":               {CDN, "wow"},
		"./cdn:wow":             {File, "./cdn:wow"},
		"http://h/p":            {HTTP, "//h/p"},
		"HTTPS://h/p":           {HTTPS, "//h/p"},
		"https:":                {HTTPS, ""},
		"s3://b/p/q":            {S3, "//b/p/q"},
		`C:\games`:              {File, `C:\games`},
		"C:/games":              {File, "C:/games"},
		"s:/games":              {File, "s:/games"},
		"x/http://h":            {File, "x/http://h"},
		"ftp://h/p":             {File, "ftp://h/p"},
		"a:b":                   {File, "a:b"},
		"":                      {File, ""},
		"DataCenter_Final.dat":  {File, "DataCenter_Final.dat"},
		"/srv/http:/server.dat": {File, "/srv/http:/server.dat"},
	} {
		if got := Parse(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
		if IsRemote(name) != (want.Scheme != File) {
			t.Errorf("IsRemote(%q) is %v", name, want.Scheme == File)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, ok := range map[string]bool{
		"cdn:wow": true, "cdn:": false, "cdn://wow": false, "cdn:a/b": false,
		"http://h": true, "http://h:80/a%20b?c=d": true, "http:/p": false, "http:h": false, "https:///p": false, "http://[": false,
		"s3://b": true, "s3://b/": true, "s3://b/p/": true, "s3:b": false, "s3:///p": false,
		"": true, "any thing": true,
	} {
		if err := Parse(name).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ name, below, joined, base, dir, shown string }{
		{"http://h/a", "b c/d?e", "http://h/a/b%20c/d%3Fe", "a", "http://h", "http://h/a"},
		{"http://h/a/", "b", "http://h/a/b", "a", "http://h", "http://h/a/"},
		{"http://h", "b", "http://h/b", "h", "http://h", "http://h"},
		{"https://u:secret@h:8/a%20b/c?sig=secret#f", "d", "https://u:secret@h:8/a%20b/c/d?sig=secret#f", "c", "https://u:secret@h:8/a%20b?sig=secret#f", "https://h:8/a%20b/c?…"},
		{"http://h/a?b/c", "d", "http://h/a/d?b/c", "a", "http://h?b/c", "http://h/a?…"},
		{"http:secret", "b", "http:secret/b", "", "http:secret", "http:…"},
		{"s3://b", "c d", "s3://b/c d", "b", "s3://b", "s3://b"},
		{"s3://b/p/", "c", "s3://b/p/c", "p", "s3://b", "s3://b/p/"},
		{"cdn:wow", "c", "cdn:wow/c", "wow", "cdn:wow", "cdn:wow"},
		{"a/b", "c/d", filepath.FromSlash("a/b/c/d"), "b", "a", "a/b"},
	} {
		o := Parse(tt.name)
		for what, pair := range map[string][2]string{
			"joined": {o.Join(tt.below).String(), tt.joined},
			"base":   {o.Base(), tt.base},
			"dir":    {o.Dir().String(), tt.dir},
			"shown":  {o.Shown(), tt.shown},
			"itself": {o.String(), tt.name},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s of %s: %s, want %s", what, tt.name, pair[0], pair[1])
			}
		}
	}
}

func TestBucket(t *testing.T) {
	for name, want := range map[string][2]string{
		"s3://b": {"b", ""}, "s3://b/": {"b", ""}, "s3://b/p/q/": {"b", "p/q"}, "s3:b/p": {"", ""},
	} {
		if bucket, key := Parse(name).Bucket(); bucket != want[0] || key != want[1] {
			t.Errorf("%s: %q, %q", name, bucket, key)
		}
	}
}

func TestAbs(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"cdn:wow": "cdn:wow", "./cdn:wow": filepath.Join(here, "cdn:wow")} {
		if got, err := Abs(name); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestSlips has passwords where they don't belong.
func TestSlips(t *testing.T) {
	for name, want := range map[string]string{
		"http:/me:hidden@host/a":   "http:…",
		"http:me:hidden@host/a":    "http:…",
		"https:///me:hidden@h":     "https:…",
		"http://me:hid/den@host/a": "http:…",
		"s3://me:hidden@b/a/c":     "s3://…@b/a/c",
		"s3:me:hidden@b":           "s3://…@b",
		"s3://b/a@c":               "s3://b/a@c",
	} {
		if got := Shown(name); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
}
