package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// A dozen calls that between them use everything the generator can do, so that
// a change of it can be reviewed.
var golden = []string{
	"MPI_Recv",               // a status that may be ignored
	"MPI_Isend",              // a request that comes out
	"MPI_Waitall",            // arrays of requests and statuses
	"MPI_Testsome",           // lengths known at the return
	"MPI_Gatherv",            // significant at the root only
	"MPI_Alltoallw",          // unless in place; arrays of handles
	"MPI_Neighbor_alltoallv", // lengths from a topology
	"MPI_Graph_neighbors",    // more room than is written
	"MPI_Comm_split",         // a new communicator
	"MPI_Type_vector_c",      // a new datatype; 64 bits wide
	"MPI_Info_get_string",    // a string, room in, need out
	"MPI_Comm_spawn",         // strings, null-terminated arrays
	"MPI_File_open",          // a handle that is a pointer everywhere
	"MPI_Win_allocate",       // an address that comes out
	"MPI_Wtime",              // no error code
	"MPI_Init",               // recorded by generated code, wrapped by hand
}

func TestGolden(t *testing.T) {
	for _, name := range golden {
		t.Run(name, func(t *testing.T) {
			c, ok := mpi.CallNamed(name)
			if !ok {
				t.Fatal("no such call")
			}
			got, err := newCall(c).emit()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".c")
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

func TestDeterministic(t *testing.T) {
	one, err := generate(mpi.Calls())
	if err != nil {
		t.Fatal(err)
	}
	two, err := generate(mpi.Calls())
	if err != nil {
		t.Fatal(err)
	}
	for name := range one {
		if !bytes.Equal(one[name], two[name]) {
			t.Errorf("%s differs from run to run", name)
		}
	}
}

// What is written by hand has to be announced as irregular, and only the
// wrapper of a traced call can be.
func TestHandwritten(t *testing.T) {
	for name := range handwritten {
		if c, ok := mpi.CallNamed(name); !ok || c.WrapperClass != mpi.WrapperHandwritten {
			t.Errorf("%s is written by hand, but not irregular in calls.txt", name)
		}
	}
	source, err := os.ReadFile("../../shim/irregular.c")
	if err != nil {
		t.Fatal(err)
	}
	for name := range handwritten {
		short := strings.TrimPrefix(name, "MPI_")
		if !bytes.Contains(source, []byte("\nFUNCTION("+short+",")) && !bytes.Contains(source, []byte(" call_"+short+"(")) {
			t.Errorf("shim/irregular.c has no %s", name)
		}
	}
}

// The C side of the limits that the generator counts on.
func TestSlack(t *testing.T) {
	source, err := os.ReadFile("../../shim/shim.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"#define SP_SLACK 128\n", "#define SP_PENDING 32 "} {
		if !bytes.Contains(source, []byte(line)) {
			t.Errorf("shim.h no longer says %q", line)
		}
	}
	if slack+32 > 128 {
		t.Errorf("%d words of fixed parts and 32 of pending segments don't fit into 128", slack)
	}
}
