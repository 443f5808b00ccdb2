package vmpi

import (
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// Operations.
const (
	Sum = 0x21
	Max = 0x23
)

// A Type is a datatype.
type Type struct{ Handle, Bytes int64 }

// Predefined datatypes.
var (
	Byte    = Type{0x247, 1}
	Int     = Type{0x209, 4}
	Double  = Type{0x214, 8}
	Complex = Type{0x21d, 16}
)

// A Comm is a communicator.
type Comm struct{ Handle int64 }

// World is MPI_COMM_WORLD.
var World = Comm{0x101}

// A Buf is an address: a segment and an offset in it.
type Buf struct{ Segment, Offset int64 }

// Heap returns the start of an allocated block, numbered as allocated.
func Heap(n int64) Buf { return Buf{n<<8 | 1, 0} }

// Static returns a place in the program's data.
func Static(offset int64) Buf { return Buf{3, offset} }

// Stack returns a place in the frame of the main thread's functions.
func Stack(offset int64) Buf { return Buf{4, -offset} }

// InPlace is MPI_IN_PLACE.
var InPlace = Buf{0, 1}

// Plus returns the address some bytes further.
func (b Buf) Plus(bytes int64) Buf { return Buf{b.Segment, b.Offset + bytes} }

// A Status is what a receive found.
type Status struct{ Source, Tag, Bytes int64 }

// A Request is a non-blocking operation; the zero value is MPI_REQUEST_NULL.
type Request struct {
	id   int64
	recv bool
	st   Status
}

// Active reports whether the request isn't null.
func (r *Request) Active() bool { return r.id != 0 }

// distance is how the request is named now.
func (v *Rank) distance(r *Request) int64 {
	if r.id == 0 {
		return 0
	}
	return 2 * (v.made - r.id + 1)
}

func (v *Rank) create(recv bool, st Status) Request {
	v.made++
	v.put(2)
	return Request{v.made, recv, st}
}

// status puts the status of an operation that has completed.
func (v *Rank) status(recv bool, st Status, ignored bool) {
	switch {
	case !recv:
		v.put(signature.StatusOfSend, 0)
	default:
		form := int64(signature.StatusFilled)
		if ignored {
			form = signature.StatusIgnored
		}
		v.put(form, st.Source)
		v.tag(st.Tag)
		v.put(st.Bytes, 0)
	}
}

// expected is the status of a receive that gets what it asks for.
func expected(source, tag, bytes int64) Status {
	if source == mpi.ProcNull {
		return Status{mpi.ProcNull, mpi.AnyTag, 0}
	}
	return Status{source, tag, bytes}
}
