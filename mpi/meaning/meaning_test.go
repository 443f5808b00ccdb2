package meaning_test

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

func TestPatterns(t *testing.T) {
	for name, want := range map[string]meaning.Pattern{
		"MPI_Send": meaning.PatternToPeer, "MPI_Irsend": meaning.PatternToPeer, "MPI_Isendrecv_replace_c": meaning.PatternToPeer, "MPI_Psend_init": meaning.PatternToPeer,
		"MPI_Recv": meaning.PatternReceive, "MPI_Imrecv": meaning.PatternReceive, "MPI_Precv_init": meaning.PatternReceive,
		"MPI_Rput": meaning.PatternOneSided, "MPI_Rget_accumulate": meaning.PatternOneSided, "MPI_Get": meaning.PatternOneSided, "MPI_Compare_and_swap": meaning.PatternOneSided,
		"MPI_Bcast": meaning.PatternFromRoot, "MPI_Iscatterv_c": meaning.PatternPartFromRoot, "MPI_Scatter": meaning.PatternPartFromRoot,
		"MPI_Igather": meaning.PatternToRoot, "MPI_Gatherv_init": meaning.PatternToRoot, "MPI_Reduce": meaning.PatternToRoot,
		"MPI_Allreduce_init": meaning.PatternToAll, "MPI_Allgatherv": meaning.PatternToAll, "MPI_Alltoall": meaning.PatternToAll, "MPI_Ialltoallw_c": meaning.PatternPartToAll,
		"MPI_Reduce_scatter": meaning.PatternPartReduced, "MPI_Ireduce_scatter_block": meaning.PatternPartReduced,
		"MPI_Iexscan": meaning.PatternToNext, "MPI_Ineighbor_alltoallw": meaning.PatternNeighbors, "MPI_Neighbor_allgather_init": meaning.PatternNeighbors,
		"MPI_File_iread_at_all": meaning.PatternFile, "MPI_File_write_ordered_begin": meaning.PatternFile,
	} {
		m := meaning.DataMovementOf(name)
		if m == nil || m.Pattern != want {
			t.Errorf("%s: %+v, want pattern %d", name, m, want)
			continue
		}
		if def, _ := mpi.CallNamed(name); m.TakesEffectAtStart != def.Has(mpi.AttrPersistent) {
			t.Errorf("%s: later %t", name, m.TakesEffectAtStart)
		}
	}
	for _, name := range []string{"MPI_Init", "MPI_Barrier", "MPI_Probe", "MPI_Request_free", "MPI_Pack", "MPI_Reduce_local", "MPI_Win_create", "MPI_Nothing"} {
		if m := meaning.DataMovementOf(name); m != nil {
			t.Errorf("%s moves %+v", name, m)
		}
	}
}

func TestSides(t *testing.T) {
	for name, want := range map[string][2]string{
		"MPI_Send":                   {"count datatype to dest", ""},
		"MPI_Sendrecv":               {"sendcount sendtype to dest", "recvcount recvtype to source"},
		"MPI_Bcast":                  {"count datatype root", "count datatype others"},
		"MPI_Gather":                 {"sendcount sendtype in place", "recvcount recvtype size(comm) root"},
		"MPI_Scatterv":               {"sendcounts sendtype at displs root", "recvcount recvtype in place"},
		"MPI_Alltoallw":              {"sendcounts sendtypes at sdispls in place", "recvcounts recvtypes at rdispls"},
		"MPI_Reduce_scatter":         {"recvcounts datatype", "own recvcounts datatype"},
		"MPI_Neighbor_alltoall":      {"sendcount sendtype outdegree(comm)", "recvcount recvtype indegree(comm)"},
		"MPI_Get_accumulate":         {"origin_count origin_datatype to target_rank", "result_count result_datatype to target_rank"},
		"MPI_Compare_and_swap":       {"datatype to target_rank", "datatype to target_rank"},
		"MPI_Psend_init":             {"partitions count datatype to dest", ""},
		"MPI_File_write_all":         {"count datatype", ""},
		"MPI_File_iread_shared":      {"", "count datatype"},
		"MPI_File_read_at_all_begin": {"", "count datatype"},
	} {
		m := meaning.DataMovementOf(name)
		if m == nil {
			m = &meaning.DataMovement{}
		}
		for i, side := range []*meaning.DataSide{m.Out, m.In} {
			if got := text(side); got != want[i] {
				t.Errorf("%s: side %d: %q, want %q", name, i, got, want[i])
			}
		}
	}
}

func text(x *meaning.DataSide) string {
	if x == nil {
		return ""
	}
	var words []string
	add := func(ok bool, w ...string) {
		if ok {
			words = append(words, w...)
		}
	}
	add(x.Partitions != "", x.Partitions)
	add(x.IsOwnElementOnly, "own")
	add(x.Count != "", x.Count)
	add(true, x.Type)
	add(x.Comm != "", x.Multiplicity.String()+"("+x.Comm+")")
	add(x.Displs != "", "at", x.Displs)
	add(x.AbsentIfInPlace, "in place")
	add(x.Peer != "", "to", x.Peer)
	add(x.OnlyRoot, "root")
	add(x.OnlyOthers, "others")
	return strings.Join(words, " ")
}

// TestComplete: what lies behind each choice buffer is said, but for those where the call
// doesn't know.
func TestComplete(t *testing.T) {
	for _, c := range mpi.Calls() {
		for i := range c.Params {
			q := &c.Params[i]
			if q.Kind != mpi.KindBuffer || q.BufferContent.Count != "" || q.BufferContent.Type != "" {
				continue
			}
			switch {
			case c.Has(mpi.AttrTool): // as long as the variable or event is
			case strings.HasPrefix(c.Name, "MPI_File_") && strings.HasSuffix(c.Name, "_end"): // the call that began it said so
			case c.Has(mpi.AttrBindsAddress) || strings.HasSuffix(c.Name, "ddress"): // an address alone
			case strings.HasPrefix(c.Name, "MPI_CONVERSION_FN_NULL"): // never called
			default:
				t.Errorf("%s: nothing is said of %s", c.Name, q.Name)
			}
		}
	}
}
