package vmpi

import "github.com/spoor-hpc/spoor/internal/record/signature"

var (
	idInit, idFinalize = id("MPI_Init"), id("MPI_Finalize")
	idRank, idSize     = id("MPI_Comm_rank"), id("MPI_Comm_size")
	idSend, idRecv     = id("MPI_Send"), id("MPI_Recv")
	idIsend, idIrecv   = id("MPI_Isend"), id("MPI_Irecv")
	idSendrecv         = id("MPI_Sendrecv")
	idReplace          = id("MPI_Sendrecv_replace")
	idWait, idWaitall  = id("MPI_Wait"), id("MPI_Waitall")
	idWaitany          = id("MPI_Waitany")
	idTestsome         = id("MPI_Testsome")
)

func (v *Rank) Init(site int)     { v.begin(); v.end(idInit, site) }
func (v *Rank) Finalize(site int) { v.begin(); v.end(idFinalize, site) }

func (v *Rank) CommRank(site int, c Comm, rank int64) {
	v.begin()
	v.put(c.Handle, rank)
	v.end(idRank, site)
}

func (v *Rank) CommSize(site int, c Comm, size int64) {
	v.begin()
	v.put(c.Handle, size)
	v.end(idSize, site)
}

// Start makes the usual first calls of a program: MPI_Init, MPI_Comm_rank and MPI_Comm_size.
func (v *Rank) Start(site int) {
	v.Init(site)
	v.CommRank(site+1, World, int64(v.Rank))
	v.CommSize(site+2, World, int64(v.Size))
}

// message adds the values of a message to the call: buffer, count, datatype, peer and tag.
func (v *Rank) message(b Buf, count int64, t Type, peer, tag int64) {
	v.buf(b)
	v.put(count, t.Handle, peer)
	v.tag(tag)
}

func (v *Rank) Send(site int, b Buf, count int64, t Type, dest, tag int64, c Comm) {
	v.begin()
	v.message(b, count, t, dest, tag)
	v.put(c.Handle)
	v.end(idSend, site)
}

func (v *Rank) Recv(site int, b Buf, count int64, t Type, source, tag int64, c Comm) {
	v.RecvOf(site, b, count, t, source, tag, c, expected(source, tag, count*t.Bytes))
}

// RecvOf is an MPI_Recv whose message, described by st, may differ from the arguments (e.g. a wildcard source).
func (v *Rank) RecvOf(site int, b Buf, count int64, t Type, source, tag int64, c Comm, st Status) {
	v.begin()
	v.message(b, count, t, source, tag)
	v.put(c.Handle)
	v.status(true, st, signature.EnvelopeOf(source, tag, count, t.Handle), false)
	v.end(idRecv, site)
}

func (v *Rank) Isend(site int, b Buf, count int64, t Type, dest, tag int64, c Comm) Request {
	v.begin()
	v.message(b, count, t, dest, tag)
	v.put(c.Handle)
	r := v.create(false, Status{}, signature.UnknownEnvelope)
	v.end(idIsend, site)
	return r
}

func (v *Rank) Irecv(site int, b Buf, count int64, t Type, source, tag int64, c Comm) Request {
	return v.IrecvOf(site, b, count, t, source, tag, c, expected(source, tag, count*t.Bytes))
}

// IrecvOf is an MPI_Irecv whose message, described by st, may differ from the arguments (e.g. a wildcard source).
func (v *Rank) IrecvOf(site int, b Buf, count int64, t Type, source, tag int64, c Comm, st Status) Request {
	v.begin()
	v.message(b, count, t, source, tag)
	v.put(c.Handle)
	r := v.create(true, st, signature.EnvelopeOf(source, tag, count, t.Handle))
	v.end(idIrecv, site)
	return r
}

func (v *Rank) Sendrecv(site int, s Buf, ns int64, dest, stag int64, r Buf, nr, source, rtag int64, t Type, c Comm) {
	v.begin()
	v.message(s, ns, t, dest, stag)
	v.message(r, nr, t, source, rtag)
	v.put(c.Handle)
	v.status(true, expected(source, rtag, nr*t.Bytes), signature.EnvelopeOf(source, rtag, nr, t.Handle), true)
	v.end(idSendrecv, site)
}

func (v *Rank) SendrecvReplace(site int, b Buf, n int64, t Type, dest, stag, source, rtag int64, c Comm) {
	v.begin()
	v.message(b, n, t, dest, stag)
	v.put(source)
	v.tag(rtag)
	v.put(c.Handle)
	v.status(true, expected(source, rtag, n*t.Bytes), signature.EnvelopeOf(source, rtag, n, t.Handle), true)
	v.end(idReplace, site)
}

func (v *Rank) Wait(site int, r *Request) {
	v.begin()
	v.put(v.distance(r))
	v.status(r.recv, r.st, r.says, false)
	*r = Request{}
	v.end(idWait, site)
}

// Waitall ignores the statuses, as most programs do.
func (v *Rank) Waitall(site int, rs []Request) {
	v.begin()
	v.requests(rs)
	v.put(int64(len(rs)))
	for i := range rs {
		v.status(rs[i].recv, rs[i].st, rs[i].says, true)
		rs[i] = Request{}
	}
	v.end(idWaitall, site)
}

func (v *Rank) requests(rs []Request) {
	n := int64(len(rs))
	v.put(n, n)
	for i := range rs {
		v.put(v.distance(&rs[i]))
	}
}

// leave adds an array of requests to the call's values. The call completes the requests at the given indices and leaves
// the others of the array unfinished.
func (v *Rank) leave(rs []Request, at ...int) {
	v.passed, v.ended = len(v.key)+1, append(v.ended, at...)
	v.requests(rs)
}

// Waitany is an MPI_Waitany that completes the request at index at of the array.
func (v *Rank) Waitany(site int, rs []Request, at int) {
	v.begin()
	v.leave(rs, at)
	v.put(int64(at))
	v.status(rs[at].recv, rs[at].st, rs[at].says, false)
	rs[at] = Request{}
	v.end(idWaitany, site)
}

// Testsome is an MPI_Testsome that completes the requests at the given indices of the array, perhaps none.
func (v *Rank) Testsome(site int, rs []Request, at []int) {
	v.begin()
	v.leave(rs, at...)
	n := int64(len(at))
	v.put(n, n)
	for _, i := range at {
		v.put(int64(i))
	}
	v.put(n)
	for _, i := range at {
		v.status(rs[i].recv, rs[i].st, rs[i].says, false)
	}
	for _, i := range at {
		rs[i] = Request{}
	}
	v.end(idTestsome, site)
}
