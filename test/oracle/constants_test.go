package oracle

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
)

// names translates by name: the log has what this MPI's mpi.h gives each name,
// the standard ABI has another number for it.
type names struct {
	raw   map[string]int64
	mpich bool
}

func newNames(raw map[string]int64) names {
	_, mpich := raw["MPIX_ERR_PROC_FAILED"]
	return names{raw: raw, mpich: mpich && uint32(raw["MPI_COMM_WORLD"]) == 0x44000000}
}

// integer tests an integer of a kind; it returns what is wrong.
func (n names) integer(kind mpi.Kind, raw, abi int64) string {
	switch {
	case kind == mpi.KindLogical:
		if (raw != 0) != (abi != 0) {
			return fmt.Sprintf("logged %d, trace has %d", raw, abi)
		}
		return ""
	case kind.IsBitSet():
		return n.bits(kind, raw, abi)
	case kind == mpi.KindError || kind == mpi.KindErrorClass:
		raw = n.class(raw)
	}
	var named []string
	match := false
	for _, c := range mpi.Constants(kind) {
		if v, ok := n.raw[c.Name]; ok && v == raw {
			named = append(named, c.Name)
			match = match || c.Value == abi
		}
	}
	switch {
	case len(named) > 0 && !match:
		return fmt.Sprintf("logged %v, trace has %d (%s)", named, abi, mpi.ConstantName(kind, abi))
	case len(named) == 0 && raw != abi:
		return fmt.Sprintf("logged %d, trace has %d", raw, abi)
	case len(named) == 0:
		// An untranslated number may mean something in the ABI.
		if name := mpi.ConstantName(kind, abi); name != "" {
			if _, ok := n.raw[name]; ok {
				return fmt.Sprintf("logged %d, trace has %s", raw, name)
			}
		}
	}
	return ""
}

func (n names) bits(kind mpi.Kind, raw, abi int64) string {
	var want int64
	rest := raw
	for _, c := range mpi.Constants(kind) {
		if v, ok := n.raw[c.Name]; ok && v > 0 && raw&v == v {
			want |= c.Value
			rest &^= v
		}
	}
	if want|rest != abi {
		return fmt.Sprintf("logged %#x, which is %s, trace has %#x", raw, mpi.ConstantName(kind, want|rest), abi)
	}
	return ""
}

// class takes the serial number out of an MPICH error code.
func (n names) class(raw int64) int64 {
	if n.mpich && raw > 0 && raw&0x40000000 == 0 {
		return raw & 0x7f
	}
	return raw
}

// is tests an address or integer against a named constant.
func (n names) is(raw uint64, name string) bool {
	v, ok := n.raw[name]
	return ok && uint64(v) == raw
}

// predefined returns the ABI's numbers of a handle that mpi.h has a name for.
func (n names) predefined(kind mpi.Kind, raw uint64) []int64 {
	var list []int64
	for _, c := range mpi.Constants(kind) {
		// An int handle with its highest bit set is negative as a constant.
		if v, ok := n.raw[c.Name]; ok && (uint64(v) == raw || n.mpich && raw>>32 == 0 && uint32(v) == uint32(raw)) {
			list = append(list, c.Value)
		}
	}
	return list
}

// null reports whether a handle is the null handle of its kind.
func (n names) null(kind mpi.Kind, raw uint64) bool {
	null, ok := mpi.NullHandle(kind)
	return ok && slices.Contains(n.predefined(kind, raw), null)
}
