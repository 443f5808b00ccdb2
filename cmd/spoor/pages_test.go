package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/sites"
)

var (
	examplesShown = regexp.MustCompile("(?s)" + examplesOf + "```\n(.*?)```\n")
	columnsShown  = regexp.MustCompile(`(?s)<!-- columns -->\n\n.*?\n\n`)
	exampleRemark = regexp.MustCompile(`^(.*?\S)(\s{3,})(\S.*)$`)
	helpPage      = regexp.MustCompile(`More: docs/(\S+\.md)`)
)

// TestPages: the page that the help of a verb names shows the verb's examples, word for word.
// go test -update writes them into the pages.
func TestPages(t *testing.T) {
	root := newRoot()
	shown := make(map[string]string) // the page with a verb's examples
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		now := examplesShown.ReplaceAllStringFunc(string(text), func(block string) string {
			verb := examplesShown.FindStringSubmatch(block)[1]
			cmd, _, err := root.Find([]string{verb})
			if err != nil || cmd == root {
				t.Errorf("%s: examples of %s, which is no verb", path, verb)
				return block
			}
			shown[verb] = filepath.Base(path)
			return "<!-- examples: " + verb + " -->\n```\n" + examples(cmd) + "```\n"
		})
		now = columnsShown.ReplaceAllLiteralString(now, "<!-- columns -->\n\n"+columnsTable()+"\n")
		switch {
		case now == string(text):
		case !*update:
			t.Errorf("%s: its examples or columns are not those of spoor; write them with: go test ./cmd/spoor -run TestPages -update", path)
		default:
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, cmd := range root.Commands() {
		if m := helpPage.FindStringSubmatch(cmd.Long); m != nil && !cmd.Hidden && shown[cmd.Name()] != m[1] {
			t.Errorf("%s: its help names %s, which has no <!-- examples: %s -->", cmd.Name(), m[1], cmd.Name())
		}
	}
}

// columnsTable has the columns of call sites.
func columnsTable() string {
	var b strings.Builder
	b.WriteString("| column | meaning |\n|---|---|\n")
	for _, h := range sites.MeasureColumns(sites.KnownFacts{HasTimes: true, HasWaits: true}).Headings() {
		fmt.Fprintf(&b, "| %s | %s |\n", h.Name, h.Doc)
	}
	return b.String()
}

// examples are those of a verb's help, with remarks as a shell takes them.
func examples(cmd *cobra.Command) string {
	var b strings.Builder
	for line := range strings.Lines(cmd.Example) {
		b.WriteString(exampleRemark.ReplaceAllString(strings.TrimSpace(line), "$1$2# $3") + "\n")
	}
	return b.String()
}
