package export

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// TestValues: what counters attached to calls is in each format that has a place for it, with the sums that
// the trace keeps of classes of ranks; the others say that they have it not.
func TestValues(t *testing.T) {
	m := mpis.Need(t)[0]
	dir := t.TempDir()
	for _, p := range mpis.NeedPrograms(t) {
		if p.Name == "phases.c" {
			if err := m.Compile(filepath.Join(dir, "app"), p.Path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, timing := range []string{"lossless", "stats"} {
		t.Run(timing, func(t *testing.T) {
			file := timing + ".spoor"
			spoor(t, dir, append([]string{"run", "-q", "--timing", timing, "--counters", "task-clock,context-switches", "-o", file}, m.Command(4, "./app")...)...)
			r := open(t, filepath.Join(dir, file))
			want := make(map[string]float64)
			for class := range r.Classes() {
				values, err := r.AttachedStats(class)
				if err != nil {
					t.Fatal(err)
				}
				for name, list := range values {
					for _, v := range list {
						want[name] += float64(v.Sum)
					}
				}
			}
			if len(want) == 0 {
				need.Absent(t, "no perf events here")
			}
			out := func(format string) string {
				spoor(t, dir, "export", "--to", format, "--force", "-o", format, file)
				return filepath.Join(dir, format)
			}
			known := 1e-4
			if timing == "stats" {
				known = 0.01 // sums of a rank are kept to a percent
			}
			rounding := 0.5 * 4 * 79 // tables and Paraver have whole numbers
			same := func(format, name string, got, off float64) {
				t.Helper()
				if math.Abs(got-want[name]) > off+known*want[name] {
					t.Errorf("%s: %s %.0f in all, want %.0f", format, name, got, want[name])
				}
			}
			for format, rows := range map[string][]record{
				"csv": fromCSV(t, out("csv"), "attached"), "parquet": fromParquet(t, out("parquet"), "attached"),
			} {
				got, own := make(map[string]float64), 0
				for _, x := range rows {
					got[x["name"]] += float64(x.number(t, "value"))
					own += x.number(t, "own")
				}
				for name := range want {
					same(format, name, got[name], rounding)
				}
				if (own > 0) != (timing == "lossless") {
					t.Errorf("%s: %d values are the calls' own", format, own)
				}
			}
			text := func(path ...string) string {
				b, err := os.ReadFile(filepath.Join(path...))
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			sum := func(text, pattern string) (sum float64) {
				for _, x := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
					v, err := strconv.ParseFloat(x[1], 64)
					if err != nil {
						t.Fatal(err)
					}
					sum += v
				}
				return sum
			}
			page, prv := text(out("chrome")), text(out("paraver"), "trace.prv")
			pcf := text(dir, "paraver", "trace.pcf")
			metrics := make(map[string]float64)
			for _, e := range events(t, filepath.Join(out("otf2"), "traces.otf2")) {
				if x := regexp.MustCompile(`\("(.*)" <\d+>; DOUBLE; (.*)\)`).FindStringSubmatch(e.rest); e.kind == "METRIC" && x != nil {
					v, err := strconv.ParseFloat(x[2], 64)
					if err != nil {
						t.Fatal(err)
					}
					metrics[x[1]] += v
				}
			}
			for name := range want {
				same("otf2", name, metrics[name], 1)
				same("chrome", name, sum(page, `"`+name+`":"?([0-9.e+-]+)`), 1)
				x := regexp.MustCompile(`7    (\d+)    ` + name).FindStringSubmatch(pcf)
				if x == nil {
					t.Fatalf("no type of events for %s", name)
				}
				same("paraver", name, sum(prv, ":"+x[1]+`:(\d+)`), rounding)
			}
			for _, format := range []string{"goal", "smpi", "dimemas"} {
				line := []string{"export", "--to", format}
				if format == "goal" {
					line = []string{"papers", "goal"}
				}
				if said := spoor(t, dir, append(line, "--json", "--force", "-o", format, file)...); !strings.Contains(said, "attached to calls: context-switches, task-clock") {
					t.Errorf("%s says nothing of values: %s", format, said)
				}
			}
		})
	}
}
