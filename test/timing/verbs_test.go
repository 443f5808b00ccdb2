package timing

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A cell is a trace of known.c in one mode, and how well docs/time.md says that some verb
// knows some number of it.
type cell struct {
	*app
	r       *trace.Reader
	options timing.Options
	truth   knownCalls
	page    report.Data
	word    string
}

// The words of the table.
const (
	exact   = "exact"
	bounded = "bounded"
	drawn   = "drawn"
	mean    = "mean"
	rounded = "0.1 %"
	percent = "1 %"
	coarse  = "1.6 %"
	absent  = "left out"
	refused = "refused"
)

// own reports whether times are the calls' own.
func (c *cell) own() bool { return c.word == exact || c.word == bounded }

// room is how far what so many calls come to may be off by what the table says.
func (c *cell) room(calls uint64) room {
	// The program's clock and the recorder's are not the same.
	r := room{1e-3, 5e3}
	switch c.word {
	case bounded:
		if e := c.options.Bound(""); e.Absolute > 0 {
			r.ns += float64(calls) * float64(e.Absolute)
		} else {
			r.share += e.Relative
		}
	case mean, drawn:
		// What differs by less from the mean of all that look alike has no time of its own.
		all := c.truth.all(-1)
		r = room{0.02, 1e-3 * (all.gap.high + all.duration.high)}
	case rounded:
		r.share += 1e-3
	case percent:
		r.share += 0.01
	case coarse:
		r.share += 0.016
	}
	return r
}

// same holds what a verb prints of some calls against what the program measured.
func (c *cell) same(what string, got float64, want bound, calls uint64) {
	c.t.Helper()
	if r := c.room(calls); !r.holds(got, want) {
		c.t.Errorf("%s: %.0f ns, want %.0f to %.0f, which is to be %s", what, got, want.low, want.high, c.word)
	}
}

// text is the room that three digits leave.
func (c *cell) text(calls uint64) room {
	r := c.room(calls)
	r.share += 0.005
	return r
}

// rounded does the same with numbers of three digits.
func (c *cell) rounded(what string, got float64, want bound, calls uint64) {
	c.t.Helper()
	if r := c.text(calls); !r.holds(got, want) {
		c.t.Errorf("%s: %.0f ns, want %.0f to %.0f, which is to be %s", what, got, want.low, want.high, c.word)
	}
}

// refuses asks for numbers that the trace does not have.
func (c *cell) refuses(why string, args ...string) {
	c.t.Helper()
	out := c.job.Run(append([]string{mpis.Root("bin", "spoor")}, args...)...)
	if out.Err == nil || out.Stdout != "" || !strings.Contains(out.Stderr, why) {
		c.t.Errorf("%v should have been refused, as %q: %v", args, why, out)
	}
}

// checks are the rows of the table by what they begin with.
var checks = map[string]func(c *cell){
	"a call's duration and gap":       (*cell).eachCall,
	"the same as text":                (*cell).eachCallText,
	"when a call began":               (*cell).starts,
	"what a thread did at a time":     (*cell).moments,
	"a place in the structure":        (*cell).structure,
	"a function or call site":         (*cell).functions,
	"extremes of a function's calls":  (*cell).extremes,
	"a rank, in all and by call site": (*cell).ranks,
	"a rank's times side by side":     (*cell).perRank,
	"efficiencies":                    (*cell).efficiencies,
	"what ranks wait in calls":        (*cell).lost,
	"rows of call sites as text":      (*cell).lostText,
	"bytes and errors of codecs":      (*cell).codecs,
	"a histogram":                     (*cell).histograms,
	"functions on the timeline":       (*cell).timeline,
	"what is computed again":          (*cell).again,
}

// knowledge reads the table of docs/time.md: by row and mode, the word.
func knowledge(t *testing.T) map[string]map[timing.Mode]string {
	t.Helper()
	text, err := os.ReadFile(mpis.Root("docs", "time.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text2, ok := strings.Cut(string(text), "## How exact each number is\n")
	if !ok {
		t.Fatal("docs/time.md has no table of what is known")
	}
	section, _, _ := strings.Cut(text2, "\n## ")
	rows := make(map[string]map[timing.Mode]string)
	var columns [][]timing.Mode
	for line := range strings.Lines(section) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) < 4 || strings.HasPrefix(fields[1], "-") {
			continue
		}
		fields = fields[1 : len(fields)-1]
		if columns == nil {
			for _, f := range fields[2:] {
				columns = append(columns, modesOf(f))
			}
			continue
		}
		row := make(map[timing.Mode]string)
		for i, f := range fields[2:] {
			for _, m := range columns[i] {
				row[m] = strings.TrimSpace(f)
			}
		}
		rows[strings.TrimSpace(fields[0])] = row
	}
	return rows
}

// modesOf reads the head of a column.
func modesOf(head string) (list []timing.Mode) {
	for _, m := range timing.Modes {
		if strings.Contains(head, "`"+string(m)+"`") || m.IsLossy() && strings.TrimSpace(head) == "lossy" {
			list = append(list, m)
		}
	}
	return list
}

// Each number that a verb prints is as well known in each mode as docs/time.md says,
// and no worse, by what the program itself measured.
func TestNumbers(t *testing.T) {
	table := knowledge(t)
	for row := range table {
		if checks[row] == nil {
			t.Errorf("docs/time.md: nobody checks %q", row)
		}
	}
	for row := range checks {
		if table[row] == nil {
			t.Errorf("docs/time.md has no row %q", row)
		}
	}
	a := buildKnown(t, mpis.Need(t)[0])
	for _, flags := range knownModes() {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			b := a.beside(t)
			o := timing.Options{Mode: timing.Mode(flags[0])}
			if len(flags) > 1 {
				if err := o.AddErrorBound(flags[2]); err != nil {
					t.Fatal(err)
				}
			}
			c := b.cell(b.trace(append([]string{"--timing"}, flags...)...), o)
			for row, check := range checks {
				t.Run(row, func(t *testing.T) { c.as(t, table[row][o.Mode], check) })
			}
		})
	}
}

// cell is what the last run left.
func (a *app) cell(r *trace.Reader, o timing.Options) *cell {
	a.t.Helper()
	c := &cell{app: a, r: r, options: o, truth: a.known()}
	c.json(&c.page, "report", "--json", "t.spoor")
	return c
}

// as makes one check, of numbers that are to be known so well.
func (c cell) as(t *testing.T, word string, check func(c *cell)) {
	if !slices.Contains([]string{exact, bounded, drawn, mean, rounded, percent, coarse, absent, refused}, word) {
		t.Fatalf("docs/time.md says %q", word)
	}
	b := *c.app
	b.t = t
	c.app, c.word = &b, word
	check(&c)
}

// So it is if the program died: its last calls have lasted until then.
func TestNumbersOfOpenCalls(t *testing.T) {
	table := knowledge(t)
	a := buildKnown(t, mpis.Need(t)[0])
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist, timing.ModeLossless, timing.ModePlace, timing.ModeNone} {
		t.Run(string(mode), func(t *testing.T) {
			b := a.beside(t)
			args := []string{mpis.Root("bin", "spoor"), "run", "-q", "-f", "-o", "t.spoor", "--timing", string(mode)}
			out := b.job.Run(append(args, b.job.MPI.Command(b.ranks, "./app", "open")...)...)
			if out.Err == nil {
				t.Fatalf("it did not die: %v", out)
			}
			b.over = now(t)
			b.spoor("recover", "-f", "-o", "t.spoor", "t.spoor.partial")
			if err := os.RemoveAll(filepath.Join(b.job.Dir, "t.spoor.partial")); err != nil {
				t.Fatal(err)
			}
			c := b.cell(b.open(), timing.Options{Mode: mode})
			for row, check := range checks {
				if row != "what is computed again" { // nothing is, without --partial
					t.Run(row, func(t *testing.T) { c.as(t, table[row][mode], check) })
				}
			}
		})
	}
}

// knownModes are what is said behind --timing: all modes, and bounds that are times.
func knownModes() (list [][]string) {
	for _, m := range timing.Modes {
		flags := []string{string(m)}
		if m.IsLossy() {
			flags = append(flags, "--error", "0.02")
		}
		list = append(list, flags)
	}
	return append(list, []string{"place", "--error", "20us"}, []string{"hist-sig", "--error", "20us"})
}

var number = regexp.MustCompile(`([\d.]+) (ns|µs|ms|s)\b`)

// printed reads times as verbs print them, in ns.
func printed(t *testing.T, text string) (list []float64) {
	t.Helper()
	for _, s := range number.FindAllString(text, -1) {
		d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, float64(d.Nanoseconds()))
	}
	return list
}
