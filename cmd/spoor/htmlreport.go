package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	page "github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/trace"
)

func newReport() *cobra.Command {
	var out string
	var asJSON, force bool
	var paths []string
	var window windowFlags
	var port int
	cmd := &cobra.Command{
		Use:   "report [flags] [TRACE]",
		Short: "Make one HTML page of a trace: overview, timeline, matrix, waiting; opens offline",
		Long: `The page is one file. It loads nothing from a network, and can be mailed and
printed. It stays small for any trace: many ranks share rows, long times share
tiles. How exact the timeline is depends on the times in the trace; the page
says so.

--serve shows it in a browser and reads the trace as you zoom, down to single
calls. It listens on 127.0.0.1, its address holds a random token, and it runs
until it is interrupted. For a remote machine: ssh -L 8888:127.0.0.1:8888 HOST,
and there spoor report --serve=8888.
More: docs/report.md`,
		Example: `  spoor report app.spoor                    writes app.html
  spoor report app.spoor -o report.html
  spoor report --serve app.spoor
  spoor report --json app.spoor             the page's data`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			o, p, err := reportOptions(cmd, r, paths)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("serve") {
				return serve(cmd, r, o, p, port)
			}
			d, err := page.CollectData(r, o)
			p.end()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), d)
			}
			if out == "" {
				base := filepath.Base(r.Name())
				out = strings.TrimSuffix(base, filepath.Ext(base)) + ".html"
			}
			if err := writeWhole(out, force, func(w io.Writer) error { return page.WritePage(w, d) }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s\n", shortPath(out))
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write to this `file` (default NAME.html)")
	forceFlag(f, &force)
	f.BoolVar(&asJSON, "json", false, "print the page's data as JSON")
	debugPathFlag(f, &paths)
	f.IntVar(&port, "serve", 0, "show the page in a browser, with every call of long runs, at this `port` of 127.0.0.1 (default: any free one)")
	f.Lookup("serve").NoOptDefVal = "0"
	inGroup(f, "Browser", "serve")
	window.add(f)
	return cmd
}

// serve is an HTTP server for the page until SIGINT or SIGTERM. Port 0 is any free port.
func serve(cmd *cobra.Command, r *trace.Reader, o page.Options, p *progress, port int) error {
	if port < 0 || port > 65535 {
		return &usageError{cmd, fmt.Errorf("--serve %d: want a port, 0 to 65535", port)}
	}
	o.UsesViewer = true
	d, err := page.CollectData(r, o)
	p.end()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.WritePage(&b, d); err != nil {
		return err
	}
	s, err := page.NewServer(port, b.Bytes(), page.NewViewer(r, d, o))
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), s.URL())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return s.Serve(ctx)
}

// reportOptions returns the options with which a page is made, and the progress display that making it updates.
func reportOptions(cmd *cobra.Command, r *trace.Reader, paths []string) (page.Options, *progress, error) {
	where, named, err := sitesOf(r, paths, false)
	if err != nil {
		return page.Options{}, nil, err
	}
	var mu sync.Mutex
	p := newProgress(cmd.ErrOrStderr(), "", 0)
	code, err := where.code(r)
	return page.Options{SiteNaming: named, Code: code, Progress: func(what string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		p.what, p.done, p.total = what, done-1, total
		p.step()
	}}, p, err
}
