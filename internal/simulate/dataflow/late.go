package dataflow

// A late is what ends at a time that is known when it begins, as no other rank has to do anything for it.
type late struct {
	at, left int64 // when it ends, and when it left
	hop      *hop  // how the rank came to it
	by       int32 // that is it
}

// later begins such a thing. A put keeps the sender as a message does, and has ended when word of
// its arrival is back; a get is asked for first. Memory is there: large ones wait for nobody.
func (e *engine) later(x *rank, o *Op) *late {
	l := &late{left: x.now, hop: x.hop, by: x.number}
	if o.Kind == Later {
		l.at = x.now + min(o.Time, horizon)
		return l
	}
	level := e.place.Between(int(x.of), int(o.Peer))
	cost := level.Message(o.Bytes, o.Bytes > level.EagerLimit)
	l.at = level.Latency() + cost.Travel + cost.Receive
	if o.Kind == Get {
		l.at += x.now
	} else {
		leaves := x.free
		if x.free <= x.now {
			leaves, x.idle, x.idleHop = x.now, x.now, x.hop
		}
		x.free = leaves + cost.Busy
		l.at += leaves
		l.left, l.hop = x.idle, x.idleHop
	}
	e.spend(x, o.Site, overhead, cost.Send)
	return l
}
