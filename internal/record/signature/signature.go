// Package signature holds call signatures: what identifies one kind of MPI
// call of a rank, namely the function, the place it was called from and every
// parameter value in symbolic form. Two calls with equal signatures are the
// same terminal of the grammar. Time is not part of a signature.
//
// Values that differ from call to call by steps, such as a tag that counts, are kept in lanes beside the signature.
//
// The package knows nothing of how values were recorded or made symbolic.
package signature

import "slices"

// A Signature is one distinct call of a rank. Values starts with the return code. Then follow, parameter by parameter
// in declared order, its input and its output values; see Layout. Everything is an integer: strings and functions are
// content hashes, handles symbolic ids.
type Signature struct {
	FunctionID uint16 // id of the function in mpi/calls.txt
	Site       uint64 // content hash of (module, offset) of the call site; 0: unknown
	Values     []int64
}

// Equal reports whether two signatures are the same call.
func (s Signature) Equal(t Signature) bool {
	return s.FunctionID == t.FunctionID && s.Site == t.Site && slices.Equal(s.Values, t.Values)
}
