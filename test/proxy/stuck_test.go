package proxy

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestStuck runs a proxy that hangs: one of four ranks makes no calls after its
// MPI_Init. The watchdog has to end it, and to name the ranks that wait and their calls.
func TestStuck(t *testing.T) {
	m := installed(t)[0]
	p, err := mpis.ReadProgram("../mpi/collectives.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := traced(t, m, dir, "a.spoor", 4, build(t, m, p, dir))
	made, err := proxy.GenerateProgram(a, proxy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	include := []byte("#include \"runtime/runtime.h\"\n")
	text := bytes.Replace(made.Files["proxy.c"], include, append(include, "#include <unistd.h>\n"...), 1)
	text = bytes.Replace(text, []byte("begun();"), []byte("begun(); while (rank == 1) pause();"), 1)
	made.Files["proxy.c"] = text
	if err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	binary := compiled(t, m, dir)
	line := m.Command(4, "env", "PROXY_WATCHDOG=2", binary)
	begin := time.Now()
	out, err := run(t, m, dir, line...)
	if err == nil || time.Since(begin) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	for _, rank := range []int{0, 2, 3} {
		if !regexp.MustCompile(fmt.Sprintf(`proxy: rank %d, thread 0: for 2 s in call \d+: MPI_\w+\(`, rank)).MatchString(out) {
			t.Errorf("nothing of rank %d", rank)
		}
	}
	if strings.Contains(out, "proxy: rank 1") {
		t.Error("rank 1 is in no call")
	}
	if t.Failed() {
		t.Log(out)
	}
}
