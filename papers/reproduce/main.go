// Command reproduce measures what papers/README.md compares with the figures of the five papers, and rewrites its
// table:
//
//	make && go run ./papers/reproduce
//
// It takes about two minutes. What takes hours elsewhere it reads from the results of bench/scale and from pages with
// measured tables.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
)

func main() {
	into := flag.String("into", "papers/README.md", "the `page` with the table; empty: print it")
	flag.Parse()
	if err := reproduce(*into); err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(1)
	}
}

// A row is a row of the printed table: a figure, table or feature of a paper, and how to get spoor's counterpart.
type row struct {
	figure, command, paper string
	ours                   func(b *bench) (string, error)
}

// A paper has its rows in the order of its pages.
type paper struct {
	name string
	rows []row
}

func reproduce(into string) error {
	dir, err := os.MkdirTemp("", "reproduce-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	installed := mpis.Installed()
	if len(installed) == 0 {
		return errors.New("no MPI is installed")
	}
	spoor, err := filepath.Abs("bin/spoor")
	if err != nil {
		return err
	}
	b := &bench{dir: dir, spoor: spoor, mpi: installed[0], programs: make(map[string]string)}
	var table strings.Builder
	for _, p := range papers {
		fmt.Fprintf(&table, "### %s\n\n| figure, table | command | the paper | spoor |\n|---|---|---|---|\n", p.name)
		for _, r := range p.rows {
			ours, err := r.ours(b)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, r.figure, err)
			}
			fmt.Fprintf(&table, "| %s | `%s` | %s | %s |\n", r.figure, r.command, r.paper, ours)
			fmt.Fprintf(os.Stderr, "%s: %s\n", r.figure, ours)
		}
		fmt.Fprintln(&table)
	}
	if into == "" {
		fmt.Print(table.String())
		return nil
	}
	text, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	const begin, end = "<!-- reproduced -->\n", "<!-- end of reproduced -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the table", into)
	}
	return os.WriteFile(into, []byte(before+begin+"\n"+table.String()+end+after), 0o644)
}

// A bench runs programs, and traces them, in a temporary folder.
type bench struct {
	dir, spoor string
	mpi        *mpis.MPI
	programs   map[string]string // by name: path of the binary
}

func (b *bench) run(line ...string) ([]byte, error) {
	c := exec.Command(line[0], line[1:]...)
	c.Dir, c.Env = b.dir, b.mpi.Environ("OMP_NUM_THREADS=1")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, stderr.String())
	}
	return out, err
}

// ask runs the tool with the arguments, and decodes its JSON output into the value that to points to.
func (b *bench) ask(to any, arguments ...string) error {
	out, err := b.run(append([]string{b.spoor}, arguments...)...)
	if err == nil {
		err = json.Unmarshal(out, to)
	}
	return err
}

// command returns the command line that runs a program on a number of ranks. It compiles the program if necessary.
func (b *bench) command(name string, ranks int, arguments ...string) ([]string, error) {
	if b.programs[name] == "" {
		app, ok := compile.ByName(name)
		if !ok {
			return nil, fmt.Errorf("no program %s", name)
		}
		path, err := app.Build(b.mpi, b.dir)
		if err != nil {
			return nil, err
		}
		b.programs[name] = path
	}
	return b.mpi.Command(ranks, append([]string{b.programs[name]}, arguments...)...), nil
}

// trace records a program, unless that was done, and returns the name of its trace.
func (b *bench) trace(name string, ranks int, timing string, arguments ...string) (string, error) {
	file := fmt.Sprintf("%s-%d-%s-%s.spoor", name, ranks, timing, strings.Join(arguments, ""))
	if _, err := os.Stat(filepath.Join(b.dir, file)); err == nil {
		return file, nil
	}
	line, err := b.command(name, ranks, arguments...)
	if err == nil {
		_, err = b.run(append([]string{b.spoor, "run", "-q", "--timing", timing, "-o", file}, line...)...)
	}
	return file, err
}

// An about is what the JSON output of spoor info says of a trace, as far as it is used here.
type about struct {
	Bytes int64 `json:"bytes"`
	Calls int64 `json:"calls"`
	Span  int64 `json:"span_ns"`
}

func (b *bench) about(file string) (a about, err error) {
	return a, b.ask(&a, "info", "--json", file)
}

// sizes returns the sizes of a program's traces on some numbers of ranks.
func sizes(name, timing string, ranks []int, arguments ...string) func(b *bench) (string, error) {
	return func(b *bench) (string, error) {
		var list, on []string
		for _, n := range ranks {
			file, err := b.trace(name, n, timing, arguments...)
			if err != nil {
				return "", err
			}
			a, err := b.about(file)
			if err != nil {
				return "", err
			}
			list, on = append(list, show.FormatBytes(a.Bytes)), append(on, strconv.Itoa(n))
		}
		return fmt.Sprintf("%s: %s on %s ranks", name, strings.Join(list, ", "), strings.Join(on, ", ")), nil
	}
}

// both joins the texts of two measurements.
func both(first, second func(b *bench) (string, error)) func(b *bench) (string, error) {
	return func(b *bench) (string, error) {
		x, err := first(b)
		if err != nil {
			return "", err
		}
		y, err := second(b)
		return x + "; " + y, err
	}
}

// scale returns what bench/scale measured for programs on 16,384 ranks: the bytes of all calls, and those that
// Pilgrim's scheme takes in its own format.
func scale(names ...string) func(b *bench) (string, error) {
	return func(*bench) (string, error) {
		text, err := os.ReadFile("bench/scale/results.txt")
		if err != nil {
			return "", err
		}
		var list []string
		for _, name := range names {
			m := regexp.MustCompile(`(?m)^` + name + ` +16384 [^|]*\| +\d+ +(\d+) [^|]*\| +(\S+)`).FindStringSubmatch(string(text))
			if m == nil {
				return "", fmt.Errorf("results.txt has no %s on 16384 ranks", name)
			}
			n, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				return "", err
			}
			list = append(list, fmt.Sprintf("%s %s (its scheme %sB)", name, show.FormatBytes(n), m[2]))
		}
		return strings.Join(list, ", "), nil
	}
}

// page finds a measured result in the text file path. It returns say with $1, $2 and so on replaced by what the groups
// of the regular expression pattern matched.
func page(path, pattern, say string) func(b *bench) (string, error) {
	return func(*bench) (string, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		if m == nil {
			return "", fmt.Errorf("%s has no %s", path, pattern)
		}
		for i, x := range m[1:] {
			say = strings.ReplaceAll(say, "$"+strconv.Itoa(i+1), x)
		}
		return say, nil
	}
}

// said returns a fixed text, where nothing is measured.
func said(text string) func(b *bench) (string, error) {
	return func(*bench) (string, error) { return text, nil }
}

// codec measures the compression ratios, noise and encoding time of a codec, for a row of the paper's tables 8 and 9.
func codec(name string) func(b *bench) (string, error) {
	return func(b *bench) (string, error) {
		file, err := b.trace("heat2d", 4, "lossless", "-n", "24", "-i", "3000")
		if err != nil {
			return "", err
		}
		type list struct{ Ratio, PSNR float64 }
		var rep struct {
			Codecs []struct {
				Ratio           float64
				Gaps, Durations list
				Encode          float64 `json:"encode_ns_per_value"`
			}
		}
		if err := b.ask(&rep, "papers", "codecs", "--json", "--codec", name, file); err != nil {
			return "", err
		}
		c := rep.Codecs[0]
		return fmt.Sprintf("%.2f, %.2f; %.0f, %.0f dB; %.2f; %.0f ns a time", c.Durations.Ratio, c.Gaps.Ratio, c.Durations.PSNR, c.Gaps.PSNR, c.Ratio, c.Encode), nil
	}
}

// lines returns how many lines the proxies of traces of 4 and of 16 ranks have.
func lines(b *bench) (string, error) {
	var list []string
	for _, n := range []int{4, 16} {
		file, err := b.trace("heat2d", n, "stats", "-n", "24", "-i", "40")
		if err != nil {
			return "", err
		}
		var p struct{ Lines int }
		if err := b.ask(&p, "proxy", "--json", "-f", "-o", "proxy", file); err != nil {
			return "", err
		}
		list = append(list, strconv.Itoa(p.Lines))
	}
	return "heat2d: " + strings.Join(list, ", ") + " lines on 4, 16 ranks", nil
}

// sameCalls compares the trace of a proxy with that of its program.
func sameCalls(b *bench) (string, error) {
	file, err := b.trace("heat2d", 4, "stats", "-n", "24", "-i", "40")
	if err != nil {
		return "", err
	}
	if err := b.ask(new(any), "proxy", "--json", "-f", "-o", "proxy", file); err != nil {
		return "", err
	}
	if _, err := b.run("make", "-s", "-C", "proxy", "CC="+b.mpi.CC); err != nil {
		return "", err
	}
	if _, err := b.run(append([]string{b.spoor, "run", "-q", "-f", "-o", "again.spoor"}, b.mpi.Command(4, "proxy/proxy")...)...); err != nil {
		return "", err
	}
	out, err := b.run(b.spoor, "diff", "--renamed", "--any-order", file, "again.spoor")
	return "heat2d: " + strings.TrimSpace(string(out)), err
}

// replays is how often replayed replays a trace; it returns the median.
const replays = 5

// replayed returns by how many percent replays of a thinned trace take longer than the recorded run, on two ranks. thin
// is the flags for thinning.
func replayed(name string, thin []string, arguments ...string) func(b *bench) (string, error) {
	return func(b *bench) (string, error) {
		file, err := b.trace(name, 2, "stats", arguments...)
		if err != nil {
			return "", err
		}
		a, err := b.about(file)
		if err != nil {
			return "", err
		}
		if _, err := b.run(slices.Concat([]string{b.spoor, "papers", "thin", "-f", "-o", "thin.spoor"}, thin, []string{file})...); err != nil {
			return "", err
		}
		var off []float64
		for range replays {
			var rep struct {
				Ranks []struct {
					Wall int64 `json:"wall_ns"`
				}
			}
			if err := b.ask(&rep, "papers", "replay", "--json", "thin.spoor"); err != nil {
				return "", err
			}
			most := int64(0)
			for _, r := range rep.Ranks {
				most = max(most, r.Wall)
			}
			off = append(off, 100*(float64(most)/float64(a.Span)-1))
		}
		slices.Sort(off)
		return fmt.Sprintf("%s, 2 ranks: %+.1f %%", name, off[replays/2]), nil
	}
}

// precisions returns the sizes of traces thinned at several tolerances, as fractions of the original trace's size.
func precisions(b *bench) (string, error) {
	file, err := b.trace("ocean", 16, "stats", "-n", "16", "-i", "12")
	if err != nil {
		return "", err
	}
	before, err := b.about(file)
	if err != nil {
		return "", err
	}
	var list []string
	for _, tolerance := range []string{"5%", "30%", "100%"} {
		var x struct{ Bytes int64 }
		if err := b.ask(&x, "papers", "thin", "--json", "-f", "-o", "thin.spoor", "--trip-counts", "--tolerance", tolerance, file); err != nil {
			return "", err
		}
		list = append(list, fmt.Sprintf("%.2f", float64(x.Bytes)/float64(before.Bytes)))
	}
	return fmt.Sprintf("ocean, 16 ranks: %s of %s", strings.Join(list, ", "), show.FormatBytes(before.Bytes)), nil
}

// times returns the sizes of a program's traces without times, and with timing modes stats and hist.
func times(b *bench) (string, error) {
	var list []string
	for _, timing := range []string{"none", "stats", "hist"} {
		file, err := b.trace("lu", 4, timing, "-n", "6", "-i", "5")
		if err != nil {
			return "", err
		}
		a, err := b.about(file)
		if err != nil {
			return "", err
		}
		list = append(list, show.FormatBytes(a.Bytes))
	}
	return "lu: " + strings.Join(list, ", ") + " with none, stats, hist", nil
}

// shown records a program, runs spoor's verb on the trace, and returns the first part of its output that matches
// pattern, a regular expression.
func shown(pattern, name string, arguments []string, verb ...string) func(b *bench) (string, error) {
	return func(b *bench) (string, error) {
		file, err := b.trace(name, 4, "stats", arguments...)
		if err != nil {
			return "", err
		}
		out, err := b.run(append(append([]string{b.spoor}, verb...), file)...)
		if err != nil {
			return "", err
		}
		line := regexp.MustCompile(pattern).FindString(string(out))
		if line == "" {
			return "", fmt.Errorf("%s: nothing like %s in\n%s", name, pattern, out)
		}
		return name + ": `" + strings.TrimSpace(line) + "`", nil
	}
}
