package main

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mostFlags is how many names of flags a user may meet in the verbs of the main help.
const mostFlags = 105

// TestFlagCount counts names of flags in the verbs that the main help lists and in those below them: each name once, in whichever verbs it
// is. The six of "spoor help part" are explained there once, and do not count; nor do hidden flags, and those of spoor papers.
func TestFlagCount(t *testing.T) {
	of := make(map[string][]string)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "papers" {
			return
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !slices.Equal(f.Annotations[groupAnnotation], []string{partGroup}) {
				of[f.Name] = append(of[f.Name], strings.TrimPrefix(cmd.CommandPath(), "spoor "))
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	for _, g := range verbs() {
		if g.title != "" {
			for _, cmd := range g.verbs {
				walk(cmd)
			}
		}
	}
	if len(of) > mostFlags {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			t.Logf("--%s: %s", name, strings.Join(of[name], ", "))
		}
		t.Errorf("%d names of flags, at most %d", len(of), mostFlags)
	}
}

// TestGoneFlags: what says that a flag is gone is said of verbs that there are, and of flags that they lack.
func TestGoneFlags(t *testing.T) {
	root := newRoot()
	for verb, flags := range goneFlags {
		cmd, rest, err := root.Find(strings.Fields(verb))
		if err != nil || len(rest) > 0 || cmd == root {
			t.Errorf("no verb %s", verb)
			continue
		}
		for name := range flags {
			if len(name) > 1 && cmd.Flags().Lookup(name) != nil || len(name) == 1 && cmd.Flags().ShorthandLookup(name) != nil {
				t.Errorf("%s has %s", verb, name)
			}
		}
	}
	for verb := range goneVerbs {
		if cmd, _, err := root.Find([]string{verb}); err == nil && cmd != root {
			t.Errorf("there is a verb %s", verb)
		}
	}
}

var (
	commandLine = regexp.MustCompile("\\bspoor ([a-z]+)((?: [a-z]+)?)([^\"'`|;&()\\n]*)")
	longFlag    = regexp.MustCompile(`(?:^|\s)--([a-z][a-z0-9-]*)`)
)

// TestFlagsNamed: messages, comments and pages name no flag that their verb lacks.
func TestFlagsNamed(t *testing.T) {
	root := newRoot()
	named := 0
	for _, dir := range []string{"cmd", "internal", "docs", "papers", "packaging", "engine", "replayer", "README.md", "examples"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return cmp.Or(err, filepath.SkipDir)
			}
			if !slices.Contains([]string{".go", ".md", ".js", ".py", ".c", ".h"}, filepath.Ext(path)) || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "gone.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range commandLine.FindAllStringSubmatch(string(text), -1) {
				cmd, _, err := root.Find(strings.Fields(m[1] + m[2]))
				if err != nil || cmd == root {
					continue
				}
				flags, _, _ := strings.Cut(m[2]+m[3], " mpi") // what a launcher follows is its own
				for _, f := range longFlag.FindAllStringSubmatch(flags, -1) {
					if named++; f[1] != "help" && cmd.Flags().Lookup(f[1]) == nil {
						t.Errorf("%s: %s: %s has no --%s", path, strings.TrimSpace(m[0]), cmd.Name(), f[1])
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if named < 200 {
		t.Errorf("only %d flags found", named)
	}
}
