package dataflow

// A ThreadProgram is the program of one of several threads of a rank. Programs of threads may be anywhere in the list of a
// run. What a rank's threads do with the same messages or meetings is counted by Op.MatchIndex; requests with numbers from Own
// on are shared by all threads of the rank, and each is used once.
type ThreadProgram struct {
	Program
	Rank int // of the placement
}

// A team is the threads of a rank.
type team struct {
	requests map[int32]*handed
	waiting  map[int32]int32 // a thread, by the request that it waits for which nobody has made yet
}

// A handed request is one that any thread of a rank may wait for.
type handed struct {
	request
	by   *rank
	made int64 // when
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

// hand makes a request known to all threads.
func (e *engine) hand(x *rank, o *Op) {
	h := &handed{by: x, made: x.now, hop: x.hop}
	e.begin(x, o, &h.request)
	x.team.requests[o.Request] = h
	if r, ok := x.team.waiting[o.Request]; ok {
		delete(x.team.waiting, o.Request)
		e.ready = append(e.ready, r)
	}
}

// take waits for such a request; false if the thread has to wait for another, or for a rank.
func (e *engine) take(r int32, x *rank, o *Op) bool {
	h := x.team.requests[o.Request]
	if h == nil {
		x.team.waiting[o.Request] = r
		return false
	}
	if e.until(x, o.Site, h.made, h.made) && e.noting {
		x.jump(h.hop, h.by.number, h.made)
	}
	if !e.finish(r, x, o.Site, &h.request) {
		return false
	}
	delete(x.team.requests, o.Request)
	return true
}

// await notes that a rank waits for another to act on a channel. With several threads, all are woken then.
func (e *engine) await(c *channel, waiter *int32, r int32) {
	if *waiter != nobody && *waiter != r {
		e.queues[c] = append(e.queues[c], r)
		return
	}
	*waiter = r
}

// wakeAll lets those threads go on.
func (e *engine) wakeAll(c *channel) {
	if list := e.queues[c]; list != nil {
		e.ready = append(e.ready, list...)
		delete(e.queues, c)
	}
}

// nth is the number of a message or a meeting, after before others.
func (o *Op) nth(before uint32) uint32 {
	if o.MatchIndex > 0 {
		return uint32(o.MatchIndex - 1)
	}
	return before
}
