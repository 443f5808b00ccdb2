package mpi

import (
	"strings"
	"sync"
)

// spellings has the C name of each function of MPI, by the name in lower case.
var spellings = sync.OnceValue(func() map[string]string {
	t := callTable()
	names := make(map[string]string, len(t.byID))
	for _, x := range t.byID {
		if x.to > 0 {
			_, name := headOf(t.text[x.head:x.to])
			names[strings.ToLower(name)] = name
		}
	}
	return names
})

// FunctionOfSymbol returns the C name of the MPI function whose linker symbol this is, with prefix P for the
// profiling interface. It accepts all spellings of Fortran symbols. For all other symbols it returns "".
func FunctionOfSymbol(symbol string) string {
	name, _, _ := strings.Cut(symbol, "@")
	profiling := ""
	if strings.HasPrefix(name, "P") || strings.HasPrefix(name, "p") {
		name, profiling = name[1:], "P"
	}
	if len(name) < 5 || !strings.EqualFold(name[:4], "mpi_") {
		return ""
	}
	name = strings.TrimRight(strings.ToLower(name), "_")
	if c := spellings()[name]; c != "" {
		return profiling + c
	}
	for _, suffix := range []string{"_f08ts", "_f08", "_fts", "_f"} {
		if s, ok := strings.CutSuffix(name, suffix); ok && spellings()[s] != "" {
			return profiling + spellings()[s]
		}
	}
	return ""
}

// A PredefinedHandles translates the predefined handles of one kind between the values of one process and the
// standard ABI.
type PredefinedHandles struct {
	abi map[uint64]int64
	raw map[int64]uint64
}

// NewPredefinedHandles returns the table of a kind for a process with an MPI of flavour f. address returns the
// address of an object in the MPI library, as a predefined handle may be such an address. It reports false for
// objects that this release of the library does not have.
func NewPredefinedHandles(f Flavour, kind Kind, address func(symbol string) (uint64, bool)) *PredefinedHandles {
	h := &PredefinedHandles{abi: make(map[uint64]int64), raw: make(map[int64]uint64)}
	for _, c := range Constants(kind) {
		var value uint64
		if symbol := c.SymbolIn(f); symbol != "" {
			a, ok := address(symbol)
			if !ok {
				continue
			}
			value = a
		} else if v, ok := c.ValueIn(f); ok {
			value = uint64(v)
		} else {
			continue
		}
		if _, ok := h.raw[c.Value]; !ok {
			h.raw[c.Value] = value
		}
		if _, ok := h.abi[value]; !ok {
			h.abi[value] = c.Value
		}
	}
	return h
}

// ToABI returns the number that a predefined handle of the process has in the standard ABI; false if raw is no
// predefined handle.
func (h *PredefinedHandles) ToABI(raw uint64) (int64, bool) {
	v, ok := h.abi[raw]
	return v, ok
}

// FromABI returns the process's value of a predefined handle, given its number in the standard ABI.
func (h *PredefinedHandles) FromABI(abi int64) (uint64, bool) {
	v, ok := h.raw[abi]
	return v, ok
}

// HandleSymbols lists the exported objects whose addresses are predefined handles in a flavour, each once, in the
// order of constants.txt.
func HandleSymbols(f Flavour) []string {
	var list []string
	seen := make(map[string]bool)
	for _, c := range AllConstants() {
		if s := c.SymbolIn(f); s != "" && !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}

// NullHandle returns the standard ABI's number of the null handle of a kind; false if the kind has none.
func NullHandle(kind Kind) (int64, bool) {
	v, ok := nullHandles[kind]
	return v, ok
}

var nullHandles = map[Kind]int64{
	KindComm: 0x100, KindGroup: 0x108, KindWin: 0x110, KindFile: 0x118, KindSession: 0x120, KindMessage: 0x128,
	KindInfo: 0x130, KindErrhandler: 0x140, KindRequest: 0x180, KindDatatype: 0x200, KindOp: 0x20,
	KindFileDescriptor: 1, KindFileStream: 1, KindDirStream: 1, KindMappedFileAddress: 1,
}
