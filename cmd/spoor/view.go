package main

import (
	"bytes"
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	page "github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/internal/report/view"
	"github.com/spoor-hpc/spoor/trace"
)

func newView() *cobra.Command {
	var port int
	var paths []string
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "view [flags] TRACE",
		Short: "Show the report in a browser, with every call of runs too long for one file",
		Long: `The page that spoor report makes, served to a browser on this machine. Where the file has to
stop at tiles, this goes on: what is zoomed into is read from the trace, down to single calls.

It prints an address to open and runs until it is interrupted. It listens on 127.0.0.1 alone,
the address holds a random token, and requests without it, or for another host, are refused. To
look at a trace on another machine, forward the port: ssh -L 8888:127.0.0.1:8888 host, and
there spoor view --port 8888.`,
		Example: `  spoor view app.spoor
  spoor view --port 8888 app.spoor`,
		Args: exactly(1, "one trace"),
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			if port < 0 || port > 65535 {
				return &usageError{cmd, fmt.Errorf("--port %d: want 0 to 65535", port)}
			}
			o, p, err := reportOptions(cmd, r, paths)
			if err != nil {
				return err
			}
			o.Live = true
			d, err := page.Of(r, o)
			p.end()
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := page.Write(&b, d); err != nil {
				return err
			}
			s, err := view.New(port, b.Bytes(), page.NewViewer(r, d, o))
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), s.URL())
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return s.Serve(ctx)
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.IntVar(&port, "port", 0, "listen at this `port`; 0: any that is free")
	debugPathFlag(f, &paths)
	return cmd
}
