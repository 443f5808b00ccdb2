// Package docs runs what the pages show.
//
// In README.md and docs/*.md a fenced block behind a comment `<!-- transcript -->` is what a shell
// shows: lines that begin with "$ " are commands, those behind them what the command prints. The
// blocks of a page are run in turn in one folder; what the comment has behind a colon is run
// before and not shown. `go test ./test/docs -update` writes the pages anew, and the pictures that
// come from the same traces; without it, what is printed has to look like what the page has.
package docs

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

var update = flag.Bool("update", false, "write the pages anew")

const mark = "<!-- transcript"

func TestTranscripts(t *testing.T) {
	mpis.NeedSpoor(t)
	pages, err := filepath.Glob(mpis.Root("docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range append([]string{mpis.Root("README.md")}, pages...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), mark) {
			found++
			t.Run(filepath.Base(path), func(t *testing.T) { shown(t, path, string(text)) })
		}
	}
	if found == 0 {
		t.Error("no page has a transcript")
	}
}

// shown runs the blocks of a page.
func shown(t *testing.T, path, text string) {
	m, err := mpis.Find("openmpi")
	if err != nil {
		need.Absent(t, "Open MPI, with which the pages' transcripts are made, is not installed")
	}
	root, err := filepath.Abs(mpis.Root())
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	// On the pages the machine is called vm.
	s := &shell{t, m, t.TempDir(), root, regexp.MustCompile(`\b` + regexp.QuoteMeta(host) + `\b`)}
	before, rest, more := strings.Cut(text, mark)
	var page strings.Builder
	for more {
		page.WriteString(before)
		comment, block, ok := strings.Cut(rest, "-->\n```\n")
		body, behind, ok2 := strings.Cut(block, "```\n")
		if !ok || !ok2 {
			t.Fatalf("%s: a transcript is a comment with a fenced block behind it: %.60q", path, rest)
		}
		if command := strings.TrimSpace(strings.TrimPrefix(comment, ":")); command != "" {
			s.run(command)
		}
		page.WriteString(mark + comment + "-->\n```\n" + s.block(body) + "```\n")
		before, rest, more = strings.Cut(behind, mark)
	}
	page.WriteString(before)
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		s.picture()
	}
}

type shell struct {
	t    *testing.T
	mpi  *mpis.MPI
	dir  string
	root string

	named *regexp.Regexp // the name of this machine
}

// run runs a line as a user would type it. Programs may fail: some pages show how.
func (s *shell) run(command string) string {
	s.t.Helper()
	j := mpis.Job{MPI: s.mpi, Dir: s.dir, Temp: s.t.TempDir(), Env: []string{
		"PATH=" + filepath.Join(s.root, "bin") + ":" + os.Getenv("PATH"), "ROOT=" + s.root, "OMP_NUM_THREADS=1", "OMPI_MCA_rmaps_base_oversubscribe=1"}}
	out := j.Run("sh", "-c", "exec 2>&1; "+command)
	return s.named.ReplaceAllString(out.Stdout, "vm")
}

// block runs the commands of a block and returns it with what they print now.
func (s *shell) block(body string) string {
	s.t.Helper()
	var now, want strings.Builder
	command := ""
	end := func() {
		if command == "" {
			return
		}
		got := s.run(command)
		now.WriteString("$ " + command + "\n")
		if got = strings.TrimRight(got, "\n"); got != "" {
			now.WriteString(got + "\n")
		}
		if strings.HasSuffix(want.String(), "\n\n") { // room before the next command
			now.WriteString("\n")
		}
		if !*update {
			s.alike(command, strings.TrimRight(want.String(), "\n"), got)
		}
		want.Reset()
	}
	for line := range strings.Lines(body) {
		if next, ok := strings.CutPrefix(line, "$ "); ok {
			end()
			command = strings.TrimSpace(next)
		} else if command == "" {
			s.t.Errorf("a block begins with %q, not with a command", line)
		} else {
			want.WriteString(line)
		}
	}
	end()
	return now.String()
}

var (
	// A number with its unit, or how much it is up or down, a date, a version, a path of this run.
	changing = regexp.MustCompile(`(< )?[+-]?[\d][\d,.:–-]*( ?(ns|µs|ms|s|%|B|KB|MB|ranks?|times?)\b| %)?`)
	// Said only if another rank was first, or if it is not known better.
	sometimes = regexp.MustCompile(` since rank 0's first call \([^)]*\)| ± [\d.]+`)
	grouped   = regexp.MustCompile(`^ +two groups: |^waiting grew most in |^only in [AB]: |^iterations `)
	// On a busy machine another call site of a library waits most.
	site = regexp.MustCompile(`[\w:]+\+0x[0-9a-f]+`)
	// On a busy machine another rank waits a little, too.
	listed  = regexp.MustCompile(`\brank # #(, rank # #)*(, # others? #)?`)
	drawing = regexp.MustCompile(`[\s*#|+<·▁-█]+`)
)

// skeleton is what of a line stays the same from run to run.
func skeleton(line string) string {
	line = changing.ReplaceAllString(site.ReplaceAllString(sometimes.ReplaceAllString(line, ""), "site"), "#")
	return strings.TrimSpace(drawing.ReplaceAllString(listed.ReplaceAllString(line, "ranks"), " "))
}

// alike fails where a line of the page has nothing like it among those that are printed. Rows of
// numbers may come in another order, or go to other functions; there have to be some.
func (s *shell) alike(command, want, got string) {
	s.t.Helper()
	rows, printed := 0, map[string]bool{}
	for line := range strings.Lines(got) {
		printed[skeleton(line)] = true
		if row(line) {
			rows++
		}
	}
	wanted := 0
	for line := range strings.Lines(want) {
		if row(line) {
			wanted++
		} else if grouped.MatchString(line) {
			continue // on a busy machine the ranks may be in more groups, or in none, and wait less than before
		} else if !printed[skeleton(line)] {
			s.t.Errorf("%s: the page has %q; now it prints\n%s", command, line, got)
			return
		}
	}
	if wanted > 0 && rows == 0 {
		s.t.Errorf("%s: no rows of numbers; now it prints\n%s", command, got)
	}
}

var numbers = regexp.MustCompile(`^ *(< *)?[\d.,]+ `)

func row(line string) bool { return numbers.MatchString(line) }
