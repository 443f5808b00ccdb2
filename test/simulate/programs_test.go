// Package simulate holds predictions against an MPI and against another simulator: machine files
// measured here, and SimGrid's replay of the same trace on the same machine.
//
// It needs MPIs, the tool built (make), and SMPI.
package simulate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// files says what files take, so that calls on them have a model.
const files = `
[[level]]
name = "switch"
eager_limit = 8192
eager = [[0, 2000], [65536, 20000]]

[files]
latency_ns = 1000
sync_ns = 5000
write_ns_per_byte = 1
read_ns_per_byte = 1
`

// TestPrograms simulates traces of small programs of MPI's harder parts: all ranks come to their end, and nothing is left
// without a model but what is said here of each.
func TestPrograms(t *testing.T) {
	mpis.NeedSpoor(t)
	list := mpis.Need(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.toml"), []byte(files), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, without := range map[string][]string{
		"threads": nil, "threads_handover": nil, "rma_pscw": nil, "rma_fence": {"MPI_Win_set_info"}, "rma_lock": nil, "intercomm": nil,
		"partitioned": nil, "persistent_collectives": nil, "neighbours": nil, "waitsome": nil,
		"file_explicit": {"MPI_File_get_type_extent", "MPI_File_set_size", "MPI_File_preallocate", "MPI_File_set_atomicity"},
	} {
		t.Run(name, func(t *testing.T) {
			known, err := mpis.ReadProgram(mpis.Root("test", "mpi", name+".c"))
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(list, known.RunsOn)
			if at < 0 {
				need.Absent(t, "no MPI that runs %s", name)
			}
			m, program := list[at], filepath.Join(dir, name)
			if err := m.Compile(program, mpis.Root("test", "mpi", name+".c"), "-pthread"); err != nil {
				t.Fatal(err)
			}
			spoor(t, m, dir, append([]string{"run", "--timing", "lossless", "-o", name + ".spoor"}, m.Command(4, program)...)...)
			var p struct {
				Ranks      []struct{} `json:"ranks"`
				Unmodelled []struct {
					What string `json:"what"`
					Kept bool   `json:"kept"`
				} `json:"not_modelled"`
			}
			out := spoor(t, m, dir, "simulate", "--machine", "m.toml", "--json", name+".spoor")
			if err := json.Unmarshal([]byte(out), &p); err != nil || len(p.Ranks) != 4 {
				t.Fatal(err, out)
			}
			for _, u := range p.Unmodelled {
				if u.Kept && !strings.HasPrefix(u.What, "MPI_Init") && !slices.Contains(without, u.What) {
					t.Errorf("without a model: %s", u.What)
				}
			}
		})
	}
}
