package replay

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
)

// Overcomes reports whether a replay can do what stands in the way of others who
// make calls again.
func Overcomes(o reissue.Obstacle) bool {
	switch strings.TrimSuffix(o.Function, "_c") {
	case "MPI_Register_datarep":
		return true // each process does it once, as in the original
	case "MPI_T_cvar_handle_alloc", "MPI_T_pvar_handle_alloc", "MPI_T_event_handle_alloc":
		return strings.Contains(o.Reason, "(obj_handle)") // see toolObject
	}
	return false
}
