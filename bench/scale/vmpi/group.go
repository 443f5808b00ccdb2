package vmpi

import "github.com/spoor-hpc/spoor/mpi"

var (
	idBarrier, idBcast  = id("MPI_Barrier"), id("MPI_Bcast")
	idReduce, idAllred  = id("MPI_Reduce"), id("MPI_Allreduce")
	idAlltoall          = id("MPI_Alltoall")
	idAlltoallv         = id("MPI_Alltoallv")
	idDup, idSplit      = id("MPI_Comm_dup"), id("MPI_Comm_split")
	idContig, idCommit  = id("MPI_Type_contiguous"), id("MPI_Type_commit")
	idCart, idCartShift = id("MPI_Cart_create"), id("MPI_Cart_shift")
)

func (v *Rank) Barrier(site int, c Comm) {
	v.begin()
	v.put(c.Handle)
	v.end(idBarrier, site)
}

func (v *Rank) Bcast(site int, b Buf, count int64, t Type, root int64, c Comm) {
	v.begin()
	v.buf(b)
	v.put(count, t.Handle, root, c.Handle)
	v.end(idBcast, site)
}

func (v *Rank) Reduce(site int, s, r Buf, count int64, t Type, op, root int64, c Comm) {
	v.begin()
	v.buf(s)
	v.buf(r)
	v.put(count, t.Handle, op, root, c.Handle)
	v.end(idReduce, site)
}

func (v *Rank) Allreduce(site int, s, r Buf, count int64, t Type, op int64, c Comm) {
	v.begin()
	v.buf(s)
	v.buf(r)
	v.put(count, t.Handle, op, c.Handle)
	v.end(idAllred, site)
}

func (v *Rank) Alltoall(site int, s Buf, ns int64, r Buf, nr int64, t Type, c Comm) {
	v.begin()
	v.buf(s)
	v.put(ns, t.Handle)
	v.buf(r)
	v.put(nr, t.Handle, c.Handle)
	v.end(idAlltoall, site)
}

// Alltoallv takes counts; displacements are their sums, as in packed buffers.
func (v *Rank) Alltoallv(site int, s Buf, ns []int64, r Buf, nr []int64, t Type, c Comm) {
	v.begin()
	v.buf(s)
	v.array(ns)
	v.sums(ns)
	v.put(t.Handle)
	v.buf(r)
	v.array(nr)
	v.sums(nr)
	v.put(t.Handle, c.Handle)
	v.end(idAlltoallv, site)
}

func (v *Rank) array(list []int64) {
	v.put(int64(len(list)))
	v.put(list...)
}

func (v *Rank) sums(list []int64) {
	v.left = append(v.left, len(v.key))
	v.put(int64(len(list)))
	sum := int64(0)
	for _, n := range list {
		v.put(sum)
		sum += n
	}
}

// A Members describes a new communicator as one member sees it: the world rank of its rank 0, the member's rank in it,
// and its size.
type Members struct{ Leader, Rank, Size int64 }

func (v *Rank) newComm(parent Comm, m Members) Comm {
	c := Comm{mpi.FirstUserHandleID + v.comms}
	v.comms++
	ordinal := v.splits[parent.Handle]
	v.splits[parent.Handle]++
	v.put(c.Handle, ordinal, m.Leader, m.Rank, m.Size, -1, 0, 0)
	return c
}

func (v *Rank) CommDup(site int, c Comm, m Members) Comm {
	v.begin()
	v.put(c.Handle)
	d := v.newComm(c, m)
	v.end(idDup, site)
	return d
}

func (v *Rank) CommSplit(site int, c Comm, color, key int64, m Members) Comm {
	v.begin()
	v.put(c.Handle, color, key)
	d := v.newComm(c, m)
	v.end(idSplit, site)
	return d
}

// CartCreate makes a Cartesian communicator of the whole world, in which each rank keeps its number.
func (v *Rank) CartCreate(site int, dims, periods []int64) Comm {
	v.begin()
	v.put(World.Handle, int64(len(dims)))
	v.array(dims)
	v.array(periods)
	v.put(0)
	c := v.newComm(World, Members{0, int64(v.Rank), int64(v.Size)})
	v.end(idCart, site)
	return c
}

func (v *Rank) CartShift(site int, c Comm, direction, disp, source, dest int64) {
	v.begin()
	v.put(c.Handle, direction, disp, source, dest)
	v.end(idCartShift, site)
}

// TypeContiguous makes and commits a datatype.
func (v *Rank) TypeContiguous(site int, count int64, t Type) Type {
	n := Type{mpi.FirstUserHandleID + v.types, count * t.Bytes}
	v.types++
	v.begin()
	v.put(count, t.Handle, n.Handle, n.Bytes, 0, n.Bytes, 0, n.Bytes)
	v.end(idContig, site)
	v.begin()
	v.put(n.Handle, n.Handle)
	v.end(idCommit, site+1)
	return n
}
