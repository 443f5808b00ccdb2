package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spoor-hpc/spoor/internal/convert/otf2"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/timing"
)

type importOptions struct {
	from, out, timing string
	force, json       bool
}

func newImport() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import --from FORMAT [flags] TRACE",
		Short: "Make a trace from one that another tool recorded (OTF2)",
		Long: `  otf2   the Open Trace Format 2 as Score-P, EZTrace and spoor export write it; TRACE
         is the file NAME.otf2 or its folder

MPI functions become calls with what the records have: messages, requests,
collectives, communicators, one-sided transfers, files, call sites. Buffers and
datatypes are unknown; sizes count in MPI_BYTE. spoor lists what is missing or
was assumed, and keeps the list in the trace.
More: docs/import.md`,
		Example: `  spoor import --from otf2 scorep-20261123_1012/traces.otf2 -o app.spoor
  spoor import --from otf2 ring_trace -o ring.spoor --timing stats`,
		Args: exactly(1, "one trace"),
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "otf2", "the `format`: otf2")
	f.StringVarP(&o.out, "output", "o", "", "trace `file` to write (default: the name of the folder)")
	f.StringVar(&o.timing, "timing", string(timing.ModeLossless), "times to keep: a `mode` of spoor run")
	forceFlag(f, &o.force)
	f.BoolVar(&o.json, "json", false, "print what was read as JSON")
	return cmd
}

func runImport(cmd *cobra.Command, o importOptions, path string) error {
	if o.from != "otf2" {
		return &usageError{cmd, fmt.Errorf("--from %q: otf2 is what can be read", o.from)}
	}
	mode := timing.Mode(o.timing)
	if mode.IsLossy() || mode.HasHistograms() || !slices.Contains(timing.Modes, mode) {
		return &usageError{cmd, fmt.Errorf("--timing %q: one of %s, %s, %s", o.timing, timing.ModeLossless, timing.ModeStats, timing.ModeNone)}
	}
	o.out = cmp.Or(o.out, importName(path))
	if err := mayWrite(o.out, o.force); err != nil {
		return err
	}
	var p *progress
	x, err := otf2.Read(path, otf2.ImportOptions{
		Timing: timing.Options{Mode: mode}, Producer: show.Version,
		Begin:    func(ranks int) { p = newProgress(cmd.ErrOrStderr(), "passes over ranks", 2*ranks) },
		Progress: func(ranks int) { p.steps(ranks) },
	})
	if p != nil {
		p.end()
	}
	if err != nil {
		return err
	}
	defer x.Close()
	size, err := written(o.out, sections.WriteFile(o.out, x.Content, o.force))
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), map[string]any{
			"trace": o.out, "format": o.from, "ranks": x.Content.Ranks, "calls": x.Calls, "bytes": size, "notes": x.Notes,
		})
	}
	for _, what := range slices.Sorted(maps.Keys(x.Notes)) {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: import: %s %s\n", show.FormatGrouped(x.Notes[what]), what)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s, %s\n", o.out, show.FormatPlural(x.Calls, "call"), show.FormatPlural(x.Content.Ranks, "rank"), show.FormatBytes(size))
	return nil
}

// importName returns the name of the trace that an archive becomes: X.otf2 and X/traces.otf2 become X.spoor.
func importName(path string) string {
	name := filepath.Base(filepath.Clean(path))
	if base, ok := strings.CutSuffix(name, ".otf2"); ok {
		name = base
		if dir := filepath.Base(filepath.Dir(filepath.Clean(path))); base == "traces" && dir != "." && dir != string(filepath.Separator) {
			name = dir
		}
	}
	return name + ".spoor"
}
