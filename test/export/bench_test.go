package export

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

var (
	benchCalls   = flag.Int("calls", 1_000_000, "calls of the trace that BenchmarkExport writes")
	benchFormats = flag.String("formats", "otf2 perfetto chrome csv parquet paraver goal dimemas smpi", "what it is written as")
)

// An exported is what one export took.
type exported struct{ wall, cpu, megabytes float64 }

// BenchmarkExport writes a trace of two ranks in all formats, in turn, once for each round of
// -benchtime, on one processor. It prints a table of medians: million calls a second, by wall and
// by processor time; bytes a call; and the largest memory of any round.
func BenchmarkExport(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "long.spoor")
	calls := longTrace(b, path, *benchCalls)
	spoor := mpis.NeedSpoor(b)
	formats := strings.Fields(*benchFormats)
	rounds, bytes := make(map[string][]exported), make(map[string]int64)
	for b.Loop() {
		for _, format := range formats {
			out := filepath.Join(dir, format)
			rounds[format] = append(rounds[format], runExport(b, spoor, format, path, out))
			bytes[format] = sizeOf(b, out)
			if err := os.RemoveAll(out); err != nil {
				b.Fatal(err)
			}
		}
	}
	table := "\n| format | million calls/s | of processor time | bytes a call | memory, MB |\n|---|---|---|---|---|\n"
	for _, format := range formats {
		r := rounds[format]
		wall, cpu := median(r, func(x exported) float64 { return x.wall }), median(r, func(x exported) float64 { return x.cpu })
		memory := slices.MaxFunc(r, func(x, y exported) int { return cmp.Compare(x.megabytes, y.megabytes) }).megabytes
		table += fmt.Sprintf("| %s | %.2f | %.2f | %.0f | %.0f |\n", format, calls/wall/1e6, calls/cpu/1e6, float64(bytes[format])/calls, memory)
	}
	fmt.Println(table) // all of it, which b.Log would not
}

// longTrace writes a trace of which three quarters of the calls send, post a receive or complete both.
func longTrace(b *testing.B, path string, calls int) float64 {
	rounds := calls / 8
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Irecv(3, 100, int64(1-r.Rank), 5)
			r.Isend(4, 100, int64(1-r.Rank), 5)
			r.Waitall(5, 2)
			r.Allreduce(6, 1)
		}
		r.End()
	})
	if err := os.WriteFile(path, mergetest.File(b, tracks, nil), 0o666); err != nil {
		b.Fatal(err)
	}
	return float64(2 * (4*rounds + 2))
}

func runExport(b *testing.B, spoor, format, path, out string) exported {
	c := exec.Command(spoor, "export", "--to", format, "-o", out, path)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	begin := time.Now()
	if text, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	state := c.ProcessState
	return exported{
		time.Since(begin).Seconds(), (state.UserTime() + state.SystemTime()).Seconds(),
		float64(state.SysUsage().(*syscall.Rusage).Maxrss) * 1024 / 1e6,
	}
}

func sizeOf(b *testing.B, path string) (bytes int64) {
	err := filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}

func median(list []exported, of func(exported) float64) float64 {
	values := make([]float64, len(list))
	for i, x := range list {
		values[i] = of(x)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
