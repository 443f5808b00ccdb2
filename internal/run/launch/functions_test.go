package launch

import (
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// Every MPI that is installed has the first function, and none has what was
// never one.
func TestFunctions(t *testing.T) {
	found := 0
	for _, flavour := range mpi.Flavours() {
		names, err := MPIFunctionsOf(flavour)
		if err != nil {
			t.Fatal(err)
		}
		if names == nil {
			continue
		}
		found++
		if !names["MPI_Init"] || !names["MPI_Isend"] || names["MPI_Nothing"] || names["PMPI_Init"] {
			t.Errorf("%s: %d functions", flavour, len(names))
		}
	}
	if found == 0 && len(InstalledMPIs()) > 0 {
		t.Error("no functions, though an MPI is installed")
	}
	if _, err := MPIFunctionsIn("/dev/null"); err == nil {
		t.Error("no error for a file that is no library")
	}
}
