package dataflow

// A Program gives what a rank does.
type Program interface {
	// Next returns operations that follow, none at the end. They are good until it is called again.
	Next() ([]Op, error)
}

// A Compiled program does distinct calls again and again.
type Compiled struct {
	Code   *Code
	Slots  []Slot // that operations of the code speak of
	Visits Visits
}

// A Code is the distinct calls that ranks make that do alike.
type Code struct {
	Calls [][]Op // what each does; peers, contexts and tags stand in slots of the rank
	Mask  uint32 // one less than a power of two: so many requests are open at most
}

// A Slot is what an operation has of its own on a rank.
type Slot struct {
	Meet    bool // of members of a context; else of messages
	Out     bool // these are sent
	Peer    int32
	Context int32
	Tag     int64
}

// Visits are the calls that a rank makes.
type Visits interface {
	// Next returns the next call, the time computed before it, and that of its operations that
	// are Timed, in ps; ok is false at the end.
	Next() (call int, gap, took int64, ok bool, err error)
	// Same is equal where ranks of the same code make the same calls with the same times, nil
	// where that isn't known.
	Same() any
	// Rounds is how many rounds the loop has in which most calls are, if it is one of the
	// outermost and its rounds are alike; else 0.
	Rounds() uint64
	// Left is how many of these rounds are still to come if the next call begins one, or comes
	// behind the last.
	Left() (rounds uint64, between bool)
	// Skip passes over so many rounds there.
	Skip(rounds uint64)
}

// Next is not for the engine, which goes through compiled programs itself: it resolves what
// slots and visits say.
func (p *Compiled) Next() ([]Op, error) {
	call, gap, took, ok, err := p.Visits.Next()
	if !ok || err != nil {
		return nil, err
	}
	ops := []Op{{Kind: Compute, Time: gap, Request: NoRequest}}
	for _, o := range p.Code.Calls[call] {
		if o.Timed {
			o.Time = took
		}
		switch o.Kind {
		case Send, Receive, Meet:
			s := &p.Slots[o.Slot]
			o.Peer, o.Context, o.Tag = s.Peer, s.Context, s.Tag
		}
		ops = append(ops, o)
	}
	return ops, nil
}
