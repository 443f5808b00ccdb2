package model

import "github.com/spoor-hpc/spoor/mpi"

// A Handover is the first call of a thread in which a handle means an object that another thread made.
type Handover struct {
	Kind        mpi.Kind // kind of the object, one of HandoverKinds
	Handle      int64    // number of the handle; for a persistent request its RequestID
	FirstUse    uint64   // index, in its stream, of the thread's first call with this object
	MakerStream int      // stream of the thread that made the object
	MakerCall   uint64   // index, in MakerStream, of the call that made the object, or made it ready for use
}

// HandoverKinds are the kinds of objects that threads pass to each other. Their indices are part of the format.
var HandoverKinds = [...]mpi.Kind{
	mpi.KindComm, mpi.KindGroup, mpi.KindDatatype, mpi.KindOp, mpi.KindRequest, mpi.KindMessage, mpi.KindWin, mpi.KindFile,
	mpi.KindInfo, mpi.KindErrhandler, mpi.KindSession,
}
