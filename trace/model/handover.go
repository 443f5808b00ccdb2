package model

import "github.com/spoor-hpc/spoor/mpi"

// A Handover says from which call of a thread on a handle means an object that another thread made.
type Handover struct {
	Kind   mpi.Kind // of the object, one of HandedKinds
	Number int64    // of the handle; of a persistent request its ID
	Index  uint64   // the first call that means this object
	Stream int      // the thread of its maker
	Made   uint64   // a call of that thread: it made the object, or made it ready for use
}

// HandedKinds are the kinds of objects that threads hand over. Files number them so.
var HandedKinds = [...]mpi.Kind{
	mpi.KindComm, mpi.KindGroup, mpi.KindDatatype, mpi.KindOp, mpi.KindRequest, mpi.KindMessage, mpi.KindWin, mpi.KindFile,
	mpi.KindInfo, mpi.KindErrhandler, mpi.KindSession,
}
