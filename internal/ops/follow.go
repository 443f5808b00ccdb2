package ops

// A Follower iterates over the calls of one rank step by step, so that several ranks can be followed in parallel.
type Follower struct {
	p    *process
	sink Sink
	next *thread // thread of the next call; nil: no call remains
	at   int64   // begin of the next call in ns, as Call.StartNs
}

// Follow returns a Follower of a rank. It returns nil if the rank left no track.
func (s *Source) Follow(rank int, sink Sink) (*Follower, error) {
	k, err := s.rank(rank)
	if err != nil {
		return nil, err
	}
	if k == nil {
		s.Losses.Add("ranks that left no track", 1)
		return nil, nil
	}
	p, err := s.process(k)
	if err != nil {
		return nil, err
	}
	f := &Follower{p: p, sink: sink}
	if err := sink.Begin(k); err != nil {
		return nil, err
	}
	if err := p.begin(); err != nil {
		return nil, err
	}
	f.look()
	return f, nil
}

// AdvanceTo passes to the sink the calls that begin before ns, a time as in Call.StartNs.
func (f *Follower) AdvanceTo(ns int64) error {
	for f.next != nil && f.at < ns {
		if err := f.p.step(f.next, f.sink); err != nil {
			return err
		}
		f.look()
	}
	return nil
}

// Finish passes the remaining calls to the sink, and ends the rank.
func (f *Follower) Finish() error {
	if err := f.AdvanceTo(MaxTime); err != nil {
		return err
	}
	if err := f.p.finish(f.sink); err != nil {
		return err
	}
	return f.sink.End(f.p.k)
}

func (f *Follower) look() {
	if f.next = f.p.earliest(); f.next != nil {
		f.at = f.p.start(f.next)
	}
}
