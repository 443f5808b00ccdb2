package model

import "github.com/spoor-hpc/spoor/mpi"

// A Handover says from which call of a thread on a handle means an object that another thread made.
type Handover struct {
	Kind        mpi.Kind // of the object, one of HandedKinds
	Handle      int64    // of the handle; of a persistent request its ID
	FirstUse    uint64   // the first call that means this object
	MakerStream int      // the thread of its maker
	MakerCall   uint64   // a call of that thread: it made the object, or made it ready for use
}

// HandoverKinds are the kinds of objects that threads hand over. Files number them so.
var HandoverKinds = [...]mpi.Kind{
	mpi.KindComm, mpi.KindGroup, mpi.KindDatatype, mpi.KindOp, mpi.KindRequest, mpi.KindMessage, mpi.KindWin, mpi.KindFile,
	mpi.KindInfo, mpi.KindErrhandler, mpi.KindSession,
}
