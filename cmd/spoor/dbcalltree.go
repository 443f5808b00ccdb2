package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/show"
)

func newDBCalltree() *cobra.Command {
	var path string
	var o shape
	var form output
	cmd := &cobra.Command{
		Use:   "calltree [flags] RUN",
		Short: "Show the loops and MPI calls of a run, without its trace",
		Long: `The tree is that of spoor calltree. A run is named by its number, a tag
(NAME=VALUE: the latest run with it) or its file. The styles paper and latex
follow Grosclaude et al., "Tracing MPI binaries for knowledge discovery".`,
		Example: `  spoor db calltree 1
  spoor db calltree --style paper commit=abc
  spoor db calltree --style latex app.spoor >app.tex && pdflatex app.tex`,
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
				return errors.New("no rank left a track")
			}
			others := 0
			if !o.all {
				largest := slices.MaxFunc(list, func(a, b *profile.Profile) int { return len(a.Ranks) - len(b.Ranks) })
				others = len(list) - 1
				list = []*profile.Profile{largest}
			}
			return printDBTrees(cmd, o, form, list, others)
		},
	}
	databaseFlag(cmd.Flags(), &path)
	o.flags(cmd.Flags())
	jsonFlag(cmd.Flags(), &form.json)
	return cmd
}

func printDBTrees(cmd *cobra.Command, o shape, form output, list []*profile.Profile, others int) error {
	view, err := o.view(cmd)
	if err != nil {
		return err
	}
	return form.print(cmd, list, func(w io.Writer) {
		for i, p := range list {
			if i > 0 {
				fmt.Fprintln(w)
			}
			o.write(w, p, view)
		}
		if others > 0 && o.style != "latex" {
			fmt.Fprintf(w, "\n%s more: --class, --all\n", show.Plural(others, "class"))
		}
	}, nil)
}
