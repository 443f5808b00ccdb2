package mpi

import "sync"

// A Layout describes how a flavour represents values at the C boundary on 64-bit machines.
type Layout struct {
	Flavour       Flavour
	Status        StatusLayout
	FortranStatus FortranStatusLayout
	CSentinels    Sentinels
	// The special addresses of mpif.h and of the Fortran modules: one element for each of their sets. Empty: they are
	// those of C.
	FortranSentinels []Sentinels

	handleSize int
	fileSize   int
}

// LayoutOf returns the layout of a flavour.
func LayoutOf(f Flavour) *Layout { return &layouts[f] }

// HandleSize returns the size in bytes of a handle of this kind in C.
func (l *Layout) HandleSize(kind Kind) int {
	if kind == KindFile {
		return l.fileSize
	}
	if kind.IsPosix() {
		return 8
	}
	return l.handleSize
}

// A StatusLayout is the size of MPI_Status and the offsets of its fields, in bytes.
type StatusLayout struct {
	SizeBytes                            int
	SourceOffset, TagOffset, ErrorOffset int
	CountForm                            StatusCountForm
}

// A StatusCountForm is where a status has the number of bytes received, and whether the operation was cancelled.
type StatusCountForm uint8

// The values of CountForm.
const (
	// StatusCountHidden: in no known field, so MPI_Get_elements_x and MPI_Test_cancelled must be called.
	StatusCountHidden StatusCountForm = iota
	// StatusCountSplit: the low 32 bits of the count are at offset 0. At offset 4, the lowest bit says whether the
	// operation was cancelled, and the other 31 bits are the high bits of the count.
	StatusCountSplit
	// StatusCountWord: whether the operation was cancelled is 32 bits at offset 12, the count is 64 bits at offset 16.
	StatusCountWord
)

// A FortranStatusLayout is the size of a status that is an array of INTEGERs, and the indices of its fields, from 0.
type FortranStatusLayout struct {
	IntegerCount                      int // number of INTEGERs in a status
	SourceIndex, TagIndex, ErrorIndex int
}

// Sentinels are the special addresses, such as MPI_IN_PLACE, that mean something else than the memory there.
type Sentinels struct {
	Bottom, InPlace, BufferAutomatic Sentinel
	StatusIgnore, StatusesIgnore     Sentinel
	Unweighted, WeightsEmpty         Sentinel
	ErrcodesIgnore                   Sentinel
	ArgvNull, ArgvsNull              Sentinel
}

// A Sentinel is how to find a special address. It is a number, the address of an exported object, or the pointer in
// an exported object once the MPI is initialised.
type Sentinel struct {
	Form   SentinelForm
	Value  int64
	Symbol string
}

// A SentinelForm says in which way a Sentinel has the address.
type SentinelForm uint8

// The values of SentinelForm.
const (
	SentinelNone SentinelForm = iota // the flavour has no such special address
	SentinelValue
	SentinelAddress // it is the address of the object Symbol
	SentinelPointee // it is the pointer in the object Symbol; while that is null there is no such address
)

func value(v int64) Sentinel       { return Sentinel{Form: SentinelValue, Value: v} }
func addressOf(s string) Sentinel  { return Sentinel{Form: SentinelAddress, Symbol: s} }
func contentsOf(s string) Sentinel { return Sentinel{Form: SentinelPointee, Symbol: s} }

var layouts = [flavourEnd]Layout{
	FlavourABI: {
		Flavour: FlavourABI, handleSize: 8, fileSize: 8,
		Status:        StatusLayout{SizeBytes: 32, SourceOffset: 0, TagOffset: 4, ErrorOffset: 8, CountForm: StatusCountHidden},
		FortranStatus: FortranStatusLayout{IntegerCount: 8, SourceIndex: 0, TagIndex: 1, ErrorIndex: 2},
		CSentinels: Sentinels{
			Bottom: value(0), InPlace: value(1), BufferAutomatic: value(2),
			StatusIgnore: value(0), StatusesIgnore: value(0),
			Unweighted: value(10), WeightsEmpty: value(11),
			ErrcodesIgnore: value(0), ArgvNull: value(0), ArgvsNull: value(0),
		},
	},
	FlavourMPICH: {
		// MPI_File is a pointer of 8 bytes, while all other handles have 4.
		Flavour: FlavourMPICH, handleSize: 4, fileSize: 8,
		Status:        StatusLayout{SizeBytes: 20, SourceOffset: 8, TagOffset: 12, ErrorOffset: 16, CountForm: StatusCountSplit},
		FortranStatus: FortranStatusLayout{IntegerCount: 5, SourceIndex: 2, TagIndex: 3, ErrorIndex: 4},
		CSentinels: Sentinels{
			Bottom: value(0), InPlace: value(-1), BufferAutomatic: value(-2),
			StatusIgnore: value(1), StatusesIgnore: value(1),
			Unweighted: contentsOf("MPI_UNWEIGHTED"), WeightsEmpty: contentsOf("MPI_WEIGHTS_EMPTY"),
			ErrcodesIgnore: value(0), ArgvNull: value(0), ArgvsNull: value(0),
		},
		FortranSentinels: []Sentinels{
			// For mpif.h and module mpi: common blocks, whose addresses the library learns at its first call from
			// Fortran.
			{
				Bottom: contentsOf("MPIR_F_MPI_BOTTOM"), InPlace: contentsOf("MPIR_F_MPI_IN_PLACE"),
				StatusIgnore: contentsOf("MPI_F_STATUS_IGNORE"), StatusesIgnore: contentsOf("MPI_F_STATUSES_IGNORE"),
				Unweighted: contentsOf("MPIR_F_MPI_UNWEIGHTED"), WeightsEmpty: contentsOf("MPIR_F_MPI_WEIGHTS_EMPTY"),
				ErrcodesIgnore: contentsOf("MPI_F_ERRCODES_IGNORE"),
				ArgvNull:       contentsOf("MPI_F_ARGV_NULL"), ArgvsNull: contentsOf("MPI_F_ARGVS_NULL"),
			},
			{ // for module mpi_f08: objects of that module
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
		Status:        StatusLayout{SizeBytes: 24, SourceOffset: 0, TagOffset: 4, ErrorOffset: 8, CountForm: StatusCountWord},
		FortranStatus: FortranStatusLayout{IntegerCount: 6, SourceIndex: 0, TagIndex: 1, ErrorIndex: 2},
		CSentinels: Sentinels{
			Bottom: value(0), InPlace: value(1), BufferAutomatic: value(4),
			StatusIgnore: value(0), StatusesIgnore: value(0),
			Unweighted: value(2), WeightsEmpty: value(3),
			ErrcodesIgnore: value(0), ArgvNull: value(0), ArgvsNull: value(0),
		},
		FortranSentinels: []Sentinels{{ // for mpif.h and both modules: the same common blocks
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

// PredefinedTypeSize returns the data size in bytes of a predefined datatype on a 64-bit machine, by its number in the
// standard ABI. The bool is false for MPI_DATATYPE_NULL and unknown numbers.
func PredefinedTypeSize(handle int64) (int64, bool) {
	t, ok := typeSizes()[handle]
	return t.size, ok && t.size >= 0
}

// PredefinedTypeExtent returns the extent in bytes of a predefined datatype, by its number in the standard ABI. It is
// the size unless constants.txt has an extent.
func PredefinedTypeExtent(handle int64) (int64, bool) {
	t, ok := typeSizes()[handle]
	if t.extent < 0 {
		return t.size, ok && t.size >= 0
	}
	return t.extent, ok
}

// A typeSize is size and extent of a datatype in constants.txt, in bytes; -1: not there.
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
