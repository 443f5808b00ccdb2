package mpi

import "sync"

// A Layout describes how a flavour passes values at the C boundary on 64-bit machines.
type Layout struct {
	Flavour       Flavour
	Status        StatusLayout
	FortranStatus FortranStatusLayout
	C             Sentinels
	Fortran       []Sentinels // special addresses of mpif.h and of the Fortran modules; empty: the same as in C

	handleSize int
	fileSize   int
}

// LayoutOf returns the layout of a flavour.
func LayoutOf(f Flavour) *Layout { return &layouts[f] }

// HandleSize returns the number of bytes of a handle in C.
func (l *Layout) HandleSize(kind Kind) int {
	if kind == KindFile {
		return l.fileSize
	}
	if kind.IsFile() {
		return 8
	}
	return l.handleSize
}

// A StatusLayout places the fields of MPI_Status, in bytes.
type StatusLayout struct {
	Size               int
	Source, Tag, Error int
	Count              CountForm
}

// A CountForm is how a status stores the number of bytes received and whether
// the operation was cancelled.
type CountForm uint8

// The count forms.
const (
	// CountHidden: ask with MPI_Get_elements_x and MPI_Test_cancelled.
	CountHidden CountForm = iota
	// CountSplit: low 32 bits at offset 0; at offset 4 the high 31 bits above
	// the bit that says cancelled.
	CountSplit
	// CountWord: cancelled is 32 bits wide at offset 12, the count 64 bits at 16.
	CountWord
)

// A FortranStatusLayout places the fields of a status that is an array of
// INTEGERs, as indices from 0.
type FortranStatusLayout struct {
	Size               int // number of INTEGERs
	Source, Tag, Error int
}

// Sentinels are addresses with a special meaning instead of memory.
type Sentinels struct {
	Bottom, InPlace, BufferAutomatic Sentinel
	StatusIgnore, StatusesIgnore     Sentinel
	Unweighted, WeightsEmpty         Sentinel
	ErrcodesIgnore                   Sentinel
	ArgvNull, ArgvsNull              Sentinel
}

// A Sentinel is a number, the address of an exported object, or what the
// pointer in an exported object holds once the MPI is initialised.
type Sentinel struct {
	Form   SentinelForm
	Value  int64
	Symbol string
}

// A SentinelForm determines which field of a Sentinel is used.
type SentinelForm uint8

// The sentinel forms.
const (
	SentinelNone SentinelForm = iota // the flavour has none
	SentinelValue
	SentinelAddress // the address of Symbol
	SentinelPointee // what the pointer Symbol holds; no address while that is null
)

func value(v int64) Sentinel       { return Sentinel{Form: SentinelValue, Value: v} }
func addressOf(s string) Sentinel  { return Sentinel{Form: SentinelAddress, Symbol: s} }
func contentsOf(s string) Sentinel { return Sentinel{Form: SentinelPointee, Symbol: s} }

var layouts = [flavourEnd]Layout{
	FlavourABI: {
		Flavour: FlavourABI, handleSize: 8, fileSize: 8,
		Status:        StatusLayout{Size: 32, Source: 0, Tag: 4, Error: 8, Count: CountHidden},
		FortranStatus: FortranStatusLayout{Size: 8, Source: 0, Tag: 1, Error: 2},
		C: Sentinels{
			Bottom: value(0), InPlace: value(1), BufferAutomatic: value(2),
			StatusIgnore: value(0), StatusesIgnore: value(0),
			Unweighted: value(10), WeightsEmpty: value(11),
			ErrcodesIgnore: value(0), ArgvNull: value(0), ArgvsNull: value(0),
		},
	},
	FlavourMPICH: {
		// MPI_File is a pointer, unlike all other handles.
		Flavour: FlavourMPICH, handleSize: 4, fileSize: 8,
		Status:        StatusLayout{Size: 20, Source: 8, Tag: 12, Error: 16, Count: CountSplit},
		FortranStatus: FortranStatusLayout{Size: 5, Source: 2, Tag: 3, Error: 4},
		C: Sentinels{
			Bottom: value(0), InPlace: value(-1), BufferAutomatic: value(-2),
			StatusIgnore: value(1), StatusesIgnore: value(1),
			Unweighted: contentsOf("MPI_UNWEIGHTED"), WeightsEmpty: contentsOf("MPI_WEIGHTS_EMPTY"),
			ErrcodesIgnore: value(0), ArgvNull: value(0), ArgvsNull: value(0),
		},
		Fortran: []Sentinels{
			{ // mpif.h and mpi: common blocks, whose addresses the library learns at the first call
				Bottom: contentsOf("MPIR_F_MPI_BOTTOM"), InPlace: contentsOf("MPIR_F_MPI_IN_PLACE"),
				StatusIgnore: contentsOf("MPI_F_STATUS_IGNORE"), StatusesIgnore: contentsOf("MPI_F_STATUSES_IGNORE"),
				Unweighted: contentsOf("MPIR_F_MPI_UNWEIGHTED"), WeightsEmpty: contentsOf("MPIR_F_MPI_WEIGHTS_EMPTY"),
				ErrcodesIgnore: contentsOf("MPI_F_ERRCODES_IGNORE"),
				ArgvNull:       contentsOf("MPI_F_ARGV_NULL"), ArgvsNull: contentsOf("MPI_F_ARGVS_NULL"),
			},
			{ // mpi_f08: objects of its own
				Bottom: addressOf("MPIR_F08_MPI_BOTTOM"), InPlace: addressOf("MPIR_F08_MPI_IN_PLACE"),
				StatusIgnore:   addressOf("MPIR_F08_MPI_STATUS_IGNORE_OBJ"),
				StatusesIgnore: addressOf("MPIR_F08_MPI_STATUSES_IGNORE_OBJ"),
				Unweighted:     addressOf("__mpi_f08_link_constants_MOD_mpi_unweighted"),
				WeightsEmpty:   addressOf("__mpi_f08_link_constants_MOD_mpi_weights_empty"),
				ErrcodesIgnore: addressOf("__mpi_f08_link_constants_MOD_mpi_errcodes_ignore"),
				ArgvNull:       addressOf("__mpi_f08_link_constants_MOD_mpi_argv_null"),
				ArgvsNull:      addressOf("__mpi_f08_link_constants_MOD_mpi_argvs_null"),
			},
		},
	},
	FlavourOpenMPI: {
		Flavour: FlavourOpenMPI, handleSize: 8, fileSize: 8,
		Status:        StatusLayout{Size: 24, Source: 0, Tag: 4, Error: 8, Count: CountWord},
		FortranStatus: FortranStatusLayout{Size: 6, Source: 0, Tag: 1, Error: 2},
		C: Sentinels{
			Bottom: value(0), InPlace: value(1), BufferAutomatic: value(4),
			StatusIgnore: value(0), StatusesIgnore: value(0),
			Unweighted: value(2), WeightsEmpty: value(3),
			ErrcodesIgnore: value(0), ArgvNull: value(0), ArgvsNull: value(0),
		},
		Fortran: []Sentinels{{ // common blocks, for all three interfaces
			Bottom: addressOf("mpi_fortran_bottom_"), InPlace: addressOf("mpi_fortran_in_place_"),
			BufferAutomatic: addressOf("mpi_fortran_buffer_automatic_"),
			StatusIgnore:    addressOf("mpi_fortran_status_ignore_"),
			StatusesIgnore:  addressOf("mpi_fortran_statuses_ignore_"),
			Unweighted:      addressOf("mpi_fortran_unweighted_"),
			WeightsEmpty:    addressOf("mpi_fortran_weights_empty_"),
			ErrcodesIgnore:  addressOf("mpi_fortran_errcodes_ignore_"),
			ArgvNull:        addressOf("mpi_fortran_argv_null_"), ArgvsNull: addressOf("mpi_fortran_argvs_null_"),
		}},
	},
}

// TypeSize returns the data size in bytes of a predefined datatype on a 64-bit machine, by its number in the
// standard ABI. It returns false for MPI_DATATYPE_NULL and unknown numbers.
func TypeSize(handle int64) (int64, bool) {
	t, ok := typeSizes()[handle]
	return t.size, ok && t.size >= 0
}

// TypeExtent returns the extent of a predefined datatype.
func TypeExtent(handle int64) (int64, bool) {
	t, ok := typeSizes()[handle]
	if t.extent < 0 {
		return t.size, ok && t.size >= 0
	}
	return t.extent, ok
}

// A typeSize is a datatype's sizes in constants.txt; -1: unknown.
type typeSize struct{ size, extent int64 }

var typeSizes = sync.OnceValue(func() map[int64]typeSize {
	m := make(map[int64]typeSize)
	for _, c := range Constants(KindDatatype) {
		m[c.Value] = c.bytes
	}
	return m
})

func (t *typeSize) field(name string) *int64 {
	switch name {
	case "size":
		return &t.size
	case "extent":
		return &t.extent
	}
	return nil
}
