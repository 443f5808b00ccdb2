package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	page "github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/trace"
)

func newReport() *cobra.Command {
	var out string
	var asJSON bool
	var paths []string
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "report [flags] TRACE",
		Short: "Make one HTML page of a trace that opens offline",
		Long: `One self-contained HTML file: overview and efficiencies, calls, the
program's structure, who sends how much to whom, sizes of messages, who waits
for whom and why, files, and a timeline of the ranks. Its first lines say where
the run's time is lost, if it is. It opens in any browser of the last years, loads nothing from a network, can be mailed and printed, and stays small
whatever the trace: many ranks share rows, long times share tiles.

How exact the timeline is depends on what the trace keeps of times; the page
says so.`,
		Example: `  spoor report app.spoor                    makes app.html
  spoor report app.spoor -o report.html
  spoor report --json app.spoor             what the page shows, as JSON`,
		Args: exactly(1, "one trace"),
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			o, p, err := reportOptions(cmd, r, paths)
			if err != nil {
				return err
			}
			d, err := page.Of(r, o)
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
			if err := writeWhole(out, func(w io.Writer) error { return page.Write(w, d) }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s\n", shortPath(out))
			return nil
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.StringVarP(&out, "output", "o", "", "write to this `file`; the trace's name with .html if empty")
	f.BoolVar(&asJSON, "json", false, "print what the page shows as JSON")
	debugPathFlag(f, &paths)
	return cmd
}

// reportOptions are those of a page, which tells a progress how far it is.
func reportOptions(cmd *cobra.Command, r *trace.Reader, paths []string) (page.Options, *progress, error) {
	where, err := placesOf(r, paths)
	if err != nil {
		return page.Options{}, nil, err
	}
	var mu sync.Mutex
	p := newProgress(cmd.ErrOrStderr(), "", 0)
	code, err := where.code(r)
	return page.Options{Where: where.called, Code: code, Progress: func(what string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		p.what, p.done, p.total = what, done-1, total
		p.step()
	}}, p, err
}
