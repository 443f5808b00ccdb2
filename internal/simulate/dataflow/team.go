package dataflow

// A ThreadProgram is the program of one thread of a rank with several threads. Thread programs may be anywhere in the
// list of programs of a run. Op.MatchIndex numbers the messages and meetings of a rank over all its threads. Requests
// from ReservedRequestCount on are common to these, and each number is used once.
type ThreadProgram struct {
	Program
	Rank int // index of the rank in the placement
}

// A team is what the threads of a rank share.
type team struct {
	requests map[int32]*handed
	waiting  map[int32]int32 // by request that is not made yet: the thread that waits for it
}

// A handed is a request for which any thread of its rank may wait, not only the thread that made it.
type handed struct {
	request
	by   *rank
	made int64 // when the request was made, in ps
	hop  *hop
}

func (e *engine) team(rank int32) *team {
	t := e.teams[rank]
	if t == nil {
		t = &team{requests: make(map[int32]*handed), waiting: make(map[int32]int32)}
		if e.teams == nil {
			e.teams, e.queues = make(map[int32]*team), make(map[*channel][]int32)
		}
		e.teams[rank] = t
	}
	return t
}

// hand begins operation o of thread x, and makes its request known to all threads of the rank.
func (e *engine) hand(x *rank, o *Op) {
	h := &handed{by: x, made: x.now, hop: x.hop}
	e.begin(x, o, &h.request)
	x.team.requests[o.Request] = h
	if r, ok := x.team.waiting[o.Request]; ok {
		delete(x.team.waiting, o.Request)
		e.ready = append(e.ready, r)
	}
}

// take has thread r wait for a request that hand makes known. It returns false if the thread must wait for another
// thread or rank.
func (e *engine) take(r int32, x *rank, o *Op) bool {
	h := x.team.requests[o.Request]
	if h == nil {
		x.team.waiting[o.Request] = r
		return false
	}
	if e.until(x, o.CallIndex, h.made, h.made) && e.noting {
		x.jump(h.hop, h.by.number, h.made)
	}
	if !e.finish(r, x, o.CallIndex, &h.request) {
		return false
	}
	delete(x.team.requests, o.Request)
	return true
}

// await records that rank or thread r waits on a channel: in *waiter if that is free, else in engine.queues. All are
// woken together.
func (e *engine) await(c *channel, waiter *int32, r int32) {
	if *waiter != nobody && *waiter != r {
		e.queues[c] = append(e.queues[c], r)
		return
	}
	*waiter = r
}

// wakeAll wakes the threads that wait on a channel and are in engine.queues.
func (e *engine) wakeAll(c *channel) {
	if list := e.queues[c]; list != nil {
		e.ready = append(e.ready, list...)
		delete(e.queues, c)
	}
}

// nth returns the number, from 0, of an operation's message or meeting among those with equal ranks, context and tag:
// MatchIndex-1 if it is set. Else it is before, the number that the engine has counted.
func (o *Op) nth(before uint32) uint32 {
	if o.MatchIndex > 0 {
		return uint32(o.MatchIndex - 1)
	}
	return before
}
