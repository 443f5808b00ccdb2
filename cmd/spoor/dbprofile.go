package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/units"
)

func newDBProfile() *cobra.Command {
	var path string
	var o profileOptions
	cmd := &cobra.Command{
		Use:   "profile [flags] RUN",
		Short: "Show what the program of a run looks like, without its trace",
		Long: `Show loops, calls and the time in them as spoor profile does, from the database: of the
largest class of ranks, unless --class or --all say otherwise. The run is named by its
number, a tag (NAME=VALUE: the run with it that started last), or its file. Styles are
those of spoor profile: paper and latex write computation and calls as terms, after
Grosclaude et al., "Tracing MPI binaries for knowledge discovery".`,
		Example: `  spoor db profile 1
  spoor db profile --style paper commit=abc
  spoor db profile --style latex app.spoor >app.tex && pdflatex app.tex`,
		Args: exactly(1, "one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.check(cmd), o.styled(cmd)); err != nil {
				return err
			}
			d, err := database.OpenRead(path)
			if err != nil {
				return err
			}
			defer d.Close()
			run, err := d.Find(args[0])
			if err != nil {
				return err
			}
			list, err := d.Profiles(run, o.class, o.style == "tree")
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return errors.New("there is no track of any rank")
			}
			others := 0
			if !o.all {
				largest := slices.MaxFunc(list, func(a, b *profile.Profile) int { return len(a.Ranks) - len(b.Ranks) })
				others = len(list) - 1
				list = []*profile.Profile{largest}
			}
			return printDBProfiles(cmd, o, list, others)
		},
	}
	databaseFlag(cmd, &path)
	f := cmd.Flags()
	o.rank = -1
	f.IntVarP(&o.class, "class", "c", -1, "show this `class` of ranks, as spoor info numbers them")
	f.BoolVarP(&o.all, "all", "a", false, "show all classes")
	f.StringVar(&o.style, "style", "tree", "how to write: tree, paper, terse or latex")
	f.StringVar(&o.minTime, "min-time", "", "put lines below this `time` together (20us, 1.5ms); 0: show all (default: as many as fit)")
	f.IntVar(&o.depth, "depth", -1, "open loops down to this `level`")
	f.IntVar(&o.width, "width", 0, "columns to use (default: those of the terminal)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func printDBProfiles(cmd *cobra.Command, o profileOptions, list []*profile.Profile, others int) error {
	view, err := o.view(cmd)
	if err != nil {
		return err
	}
	return o.print(cmd, list, func(w io.Writer) error {
		for i, p := range list {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := o.write(w, p, view); err != nil {
				return err
			}
		}
		if others > 0 && o.style != "latex" {
			fmt.Fprintf(w, "\n%s more: --class, --all\n", units.Plural(others, "class"))
		}
		return nil
	}, nil)
}
