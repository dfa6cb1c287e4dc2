// Package serving is the command serve: it opens a source, chooses the address, and says who may come.
// Package cmd/internal/web answers the requests.
package serving

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/web"
	"lorefs/internal/jsonout"
	"lorefs/internal/origin"
	"lorefs/internal/shown"
)

// serving are the flags of serve.
type serving struct {
	source options.SourceFlags
	addr   string
	cert   web.Certificate
	// proxy is the name by which clients call a server in front of this one.
	proxy  string
	open   bool
	asJSON bool
}

// defaultAddr is on this machine only, with a port that the system chooses.
const defaultAddr = "127.0.0.1:0"

// New returns the command.
func New(log *slog.Logger) *cobra.Command {
	var f serving
	c := &cobra.Command{
		Use:   "serve SOURCE",
		Short: "show a source as a web page and as a WebDAV drive",
		Long: `serve shows SOURCE in your browser and to WebDAV clients, also where there is no FUSE, until you
press Ctrl-C. It prints two addresses. Open the first in a browser. Give the second to a
program that mounts WebDAV. Both have a secret in them that lets in whoever has it.

The page lists folders, searches names, shows text, pictures and bytes, and packs folders
as tar or zip. SOURCE may also be a mount point. serve then shows what the mount shows at
that moment. It never changes anything.

Only programs on this machine can connect. With --addr others can, but only by https
(--tls-cert and --tls-key) or by a proxy in front of it (--proxy).`,
		Args: cli.ExactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c, args[0], log)
		},
	}
	f.source.Add(c.Flags())
	c.Flags().StringVar(&f.addr, "addr", defaultAddr, "`address` and port to serve at; port 0 stands for any that is free")
	c.Flags().StringVar(&f.cert.Cert, "tls-cert", "", "`file` with the certificate for https, in PEM")
	c.Flags().StringVar(&f.cert.Key, "tls-key", "", "`file` with the key of --tls-cert, in PEM")
	c.Flags().StringVar(&f.proxy, "proxy", "", "`host` by whose name clients call a proxy, which sends the name on")
	c.Flags().BoolVar(&f.open, "open", false, "open the page in your browser")
	cli.AddJSON(c, &f.asJSON, cli.OneObject+" with the addresses")
	return cli.Annotate(c, cli.EndsItself, "true")
}

// check refuses to serve others without encryption.
func (f *serving) check() error {
	if (f.cert.Cert == "") != (f.cert.Key == "") {
		return cli.UsageErrorf("--tls-cert and --tls-key go together")
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return cli.UsageErrorf("--addr %s: want an address and a port, such as %s", f.addr, defaultAddr)
	}
	if !isLoopback(host) && f.cert.Cert == "" && f.proxy == "" {
		return cli.UsageErrorf("--addr %s: others could read what is sent; give --tls-cert and --tls-key, or --proxy if a proxy encrypts", f.addr)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (f *serving) run(c *cobra.Command, path string, log *slog.Logger) (err error) {
	ctx, stop := cli.UntilSignal(c.Context(), cli.StopSignals...)
	defer stop()
	budget.Mount(int64(f.source.CacheSize))
	s, err := reach.OpenRead(ctx, path, &f.source, log, c.ErrOrStderr())
	if err != nil {
		return cli.Interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	reach.TellNames(c.ErrOrStderr(), log, s, "/")
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	token := web.NewToken()
	port := l.Addr().(*net.TCPAddr).Port
	hosts, err := f.hosts(port)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	a := f.addresses(token, port)
	if err := a.print(c.OutOrStdout(), f.asJSON); err != nil {
		return errors.Join(err, l.Close())
	}
	if f.open {
		openBrowser(ctx, a.Page, log)
	}
	o := web.Options{
		Name: origin.Shown(path), Info: describe(s, log), Token: token, Hosts: hosts, TLS: f.encrypted(),
		Port: port, Logger: log,
	}
	if d, ok := dckind.Of(s); ok {
		o.DataCenter = d.File()
	}
	return web.New(s, o).Serve(ctx, l, f.cert)
}

func (f *serving) encrypted() bool { return f.cert.Cert != "" || f.proxy != "" }

// The ports that addresses need not name.
const (
	httpPort  = 80
	httpsPort = 443
)

// hosts are the names by which clients call the server. Others may come by any address that this
// machine has, and by the names in the certificate.
func (f *serving) hosts(port int) ([]string, error) {
	names := []string{"127.0.0.1", "localhost", "::1"}
	if host, _, _ := net.SplitHostPort(f.addr); !isLoopback(host) {
		names = append(names, host)
		own, err := net.InterfaceAddrs()
		if err != nil {
			return nil, err
		}
		for _, a := range own {
			if n, ok := a.(*net.IPNet); ok {
				names = append(names, n.IP.String())
			}
		}
	}
	if f.cert.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert.Cert, f.cert.Key)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert: %w", err)
		}
		names = append(names, pair.Leaf.DNSNames...)
	}
	var hosts []string
	for _, name := range names {
		at := strings.ToLower(net.JoinHostPort(name, strconv.Itoa(port)))
		hosts = append(hosts, at)
		if port == httpPort || port == httpsPort { // clients leave them out
			hosts = append(hosts, at[:strings.LastIndexByte(at, ':')])
		}
	}
	if f.proxy != "" {
		hosts = append(hosts, strings.ToLower(f.proxy))
	}
	return hosts, nil
}

// addresses are what serve prints.
type addresses struct {
	// Page is for a browser, and WebDAV for programs.
	Page   string `json:"page"`
	WebDAV string `json:"webdav"`
}

func (f *serving) addresses(token string, port int) addresses {
	scheme := "http"
	if f.encrypted() {
		scheme = "https"
	}
	host, _, _ := net.SplitHostPort(f.addr)
	at := net.JoinHostPort(host, strconv.Itoa(port))
	if f.proxy != "" {
		at = f.proxy
	}
	return addresses{Page: scheme + "://" + at + "/?token=" + token, WebDAV: scheme + "://" + at + "/" + token + "/"}
}

func (a *addresses) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return jsonout.Object(w, a)
	}
	_, err := shown.Fprintf(w, "page    %s\nWebDAV  %s\n", a.Page, a.WebDAV)
	return err
}

// describe returns what lorefs info prints of a source.
func describe(s *kinds.Source, log *slog.Logger) string {
	var b bytes.Buffer
	d, err := s.Describe()
	if err == nil {
		err = d.Print(&b)
	}
	if err != nil {
		log.Debug("the page says nothing of the source", "err", err)
	}
	return b.String()
}

// openBrowser opens an address in the user's browser. If that fails, the user can still do it.
func openBrowser(ctx context.Context, address string, log *slog.Logger) {
	words := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case "darwin":
		words = []string{"open", address}
	}
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	if err := c.Start(); err != nil {
		log.Warn("the browser could not be started", "err", err)
		return
	}
	go func() { _ = c.Wait() }() // what it says is its own
}
