package web_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lorefs/cmd/internal/web"
)

// browsers are the names of Chromium.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// browserTime is how long one page may take, on a machine with too much to do.
const browserTime = 2 * time.Minute

// served serves a site on a port of this machine, and returns its address.
func served(t *testing.T, o web.Options) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Hosts = []string{l.Addr().String()}
	site := testSite(t, o)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- site.Serve(ctx, l, web.Certificate{}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// needsBrowser skips a test unless the step page of .ci/run runs it: a browser takes seconds for a page.
func needsBrowser(t *testing.T) {
	t.Helper()
	if os.Getenv("LOREFS_BROWSER") == "" {
		t.Skip("LOREFS_BROWSER is not set: the step page of .ci/run has a browser")
	}
}

// browse loads a page in a headless Chromium, and returns what the page has become and what the browser
// said in its console.
func browse(t *testing.T, address string, args ...string) (dom, console string) {
	t.Helper()
	program := ""
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			program = found
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed")
	}
	ctx, stop := context.WithTimeout(t.Context(), browserTime)
	defer stop()
	args = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir(),
		"--virtual-time-budget=5000",
	}, args...)
	c := exec.CommandContext(ctx, program, append(args, address)...)
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, talk.String())
	}
	for line := range strings.Lines(talk.String()) {
		if strings.Contains(line, "CONSOLE") {
			console += line
		}
	}
	return out.String(), console
}

// TestInBrowser loads pages of each sort. The script runs, and neither it nor the styles break the
// policy: a browser would say so in its console.
func TestInBrowser(t *testing.T) {
	needsBrowser(t)
	at := served(t, web.Options{Info: "what it is"})
	for path, want := range map[string]string{
		"/?token=" + token:                         `<p class="filter"><label`, // which only the script shows
		"/" + token + "/dir/":                      "evil.html",
		"/" + token + "/dir/evil.html?view":        "&lt;script&gt;",
		"/" + token + "/dir/evil.svg?view":         "<img",
		"/" + token + "/dir/100%25%23%3F.bin?view": "00 01 02",
		"/" + token + "/?find=deep":                "deep.json",
		"/" + token + "/locked.bin?view":           "unknown key",
	} {
		dom, console := browse(t, at+path, "--dump-dom")
		if !strings.Contains(dom, want) {
			t.Errorf("%s: want %s in %s", path, want, dom)
		}
		if console != "" {
			t.Errorf("%s: %s", path, console)
		}
	}
}

// TestScreenshots draws pages on narrow and wide screens, light and dark. With LOREFS_SCREENSHOTS the
// pictures stay in that folder.
func TestScreenshots(t *testing.T) {
	needsBrowser(t)
	at := served(t, web.Options{Info: "what it is"})
	dir := os.Getenv("LOREFS_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	for _, page := range []string{"", "dir/evil.html?view"} {
		for _, width := range []int{500, 1280} { // headless Chromium draws no narrower window
			var shots [][]byte
			for _, scheme := range []string{"light", "dark"} {
				name := filepath.Join(dir, fmt.Sprintf("%.3s%d-%s.png", page+"root", width, scheme))
				setting := map[string]string{"light": "1", "dark": "0"}[scheme]
				browse(t, at+"/"+token+"/"+page, fmt.Sprintf("--window-size=%d,700", width), "--screenshot="+name,
					"--blink-settings=preferredColorScheme="+setting)
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				picture, err := png.Decode(bytes.NewReader(data))
				if err != nil || picture.Bounds().Dx() != width {
					t.Fatalf("%s: %v, %v", name, picture.Bounds(), err)
				}
				shots = append(shots, data)
			}
			if bytes.Equal(shots[0], shots[1]) {
				t.Errorf("%q looks the same in the dark", page)
			}
		}
	}
}
