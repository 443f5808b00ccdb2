package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// Procedures that between them use every way to turn an argument into C's.
var fortranGolden = []string{
	"MPI_Recv",              // a buffer, an ignorable status
	"MPI_Testsome",          // arrays of requests, positions and statuses
	"MPI_Waitany",           // one position
	"MPI_Cart_create",       // logicals, a new handle
	"MPI_Alltoallw",         // arrays of handles, in place
	"MPI_Type_get_contents", // more room than is written
	"MPI_Comm_spawn",        // strings, arrays of them, special addresses
	"MPI_Info_get",          // a string that comes out
	"MPI_Info_get_string",   // a length that counts otherwise
	"MPI_File_open",         // a handle that is a pointer
	"MPI_Comm_set_attr",     // a value where C has an address
	"MPI_Type_hindexed",     // 32 bits where C has 64
	"MPI_Win_allocate",      // an address that comes out
	"MPI_Bcast_c",           // the large form
	"MPI_Aint_add",          // a function
	"MPI_Init_thread",       // written by hand
}

func TestFortranGolden(t *testing.T) {
	for _, name := range fortranGolden {
		t.Run(name, func(t *testing.T) {
			c, ok := mpi.CallNamed(name)
			if !ok {
				t.Fatal("no such call")
			}
			got, err := newFortran(c).emit()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "fortran_"+name+".c")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from the generated code, which is now\n%s\nrun with -update if that is right", path, got)
			}
		})
	}
}

// Every wrapper written by hand in C has a body for Fortran too.
func TestFortranHandwritten(t *testing.T) {
	source, err := os.ReadFile("../../shim/fortran_irregular.c")
	if err != nil {
		t.Fatal(err)
	}
	for name := range handwritten {
		if body := "\nvoid sp_f_" + strings.TrimPrefix(name, "MPI_") + "("; !strings.Contains(string(source), body) {
			t.Errorf("shim/fortran_irregular.c has no%s", strings.TrimSpace(body))
		}
	}
}

// No two procedures have the same name.
func TestFortranNames(t *testing.T) {
	seen := map[string]string{}
	for _, c := range mpi.Calls() {
		if !hasFortran(c) {
			continue
		}
		g := newFortran(c)
		for _, f := range g.forms() {
			name := g.name() + f.Suffix
			if other := seen[name]; other != "" {
				t.Errorf("%s and %s are both %s", other, c.Name, name)
			}
			seen[name] = c.Name
		}
	}
	for _, name := range []string{"mpi_send", "mpi_send_f08ts_", "mpi_send_f08ts_large_", "mpi_send_c_f08ts_", "mpi_type_size_c_f08_", "mpi_type_get_envelope_f08_c_", "mpi_comm_attach_buffer_fts_", "mpi_comm_rank_f08_", "mpi_attr_get", "mpi_alloc_mem_cptr"} {
		if seen[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	if n := len(seen); n < 1000 {
		t.Errorf("only %d names", n)
	}
}
