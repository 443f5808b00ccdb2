package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/track/tracktest"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// BenchmarkExport writes a trace of two ranks with half a million calls each. It tells calls a
// second of processor time, bytes a call and the largest memory.
func BenchmarkExport(b *testing.B) {
	exports(b, 125_000, "otf2", "perfetto", "chrome", "csv", "parquet", "sqlite", "paraver", "smpi")
}

// BenchmarkLong writes ten times as many calls into tables: memory stays.
func BenchmarkLong(b *testing.B) {
	exports(b, 1_250_000, "csv", "parquet", "sqlite")
}

func exports(b *testing.B, rounds int, formats ...string) {
	dir := b.TempDir()
	path := filepath.Join(dir, "long.spoor")
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
	calls := float64(2 * (4*rounds + 2))
	for _, format := range formats {
		b.Run(format, func(b *testing.B) {
			var seconds float64
			var memory, bytes int64
			for b.Loop() {
				c := exec.Command(mpis.NeedSpoor(b), "export", "--to", format, "-o", filepath.Join(dir, format), "--force", path)
				if out, err := c.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				u := c.ProcessState.SysUsage().(*syscall.Rusage)
				seconds += c.ProcessState.UserTime().Seconds() + c.ProcessState.SystemTime().Seconds()
				memory = max(memory, u.Maxrss<<10)
			}
			err := filepath.Walk(filepath.Join(dir, format), func(_ string, info os.FileInfo, err error) error {
				if err == nil && !info.IsDir() {
					bytes += info.Size()
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(calls*float64(b.N)/seconds/1e6, "Mcalls/cpu-s")
			b.ReportMetric(float64(bytes)/calls, "bytes/call")
			b.ReportMetric(float64(memory)/1e6, "MB-memory")
		})
	}
}
