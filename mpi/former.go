package mpi

// Former returns the standard ABI's number of a named constant that a trace of format
// version 2 or older holds: the table was then made from a draft of the standard, in which
// a few numbers were others.
func Former(kind Kind, n int64) int64 {
	if today, ok := former[constantKey{kind, n}]; ok {
		return today
	}
	return n
}

type constantKey struct {
	kind Kind
	n    int64
}

var former = map[constantKey]int64{
	{KindErrhandler, 0x142}: 0x143, {KindErrhandler, 0x143}: 0x142, // MPI_ERRORS_RETURN, MPI_ERRORS_ABORT
	{KindDatatype, 0x2c3}: 0x21e,                                                   // MPI_CHARACTER
	{KindCombiner, 113}:   115, {KindCombiner, 114}: 113, {KindCombiner, 115}: 114, // MPI_COMBINER_F90_…
	{KindWhence, 401}: 403, {KindWhence, 402}: 401, {KindWhence, 403}: 402, // MPI_SEEK_…
	{KindKeyval, 505}: 507, {KindKeyval, 506}: 505, {KindKeyval, 507}: 506, // MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE
}
