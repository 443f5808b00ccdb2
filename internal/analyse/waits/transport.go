package waits

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A Transport carries messages between ranks. Messages between two ranks arrive in the order in which they were sent.
// A send may block until the receiver receives.
type Transport interface {
	Rank() int
	Size() int
	Send(to int, msg []byte) error
	Recv(from int) ([]byte, error)
}

// A Messenger is a rank's end of the communication between ranks. Two rules avoid deadlock. Pairs of ranks exchange
// blocks in rising order of the exclusive or of their numbers, and the lower rank sends first. Groups follow each
// other in the same order on all ranks.
type Messenger struct{ Transport }

// everybody is the largest number of ranks at which every pair of ranks exchanges blocks, even empty ones.
const everybody = 8

// exchange sends blocks to other ranks, and returns those that others sent to this one.
func (x Messenger) exchange(out map[int][]byte) (map[int][]byte, error) {
	in := make(map[int][]byte)
	if b, ok := out[x.Rank()]; ok {
		in[x.Rank()] = b
	}
	with, err := x.partners(out)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(with, func(a, b int) int { return (a ^ x.Rank()) - (b ^ x.Rank()) })
	for _, rank := range with {
		send := func() error { return x.Send(rank, out[rank]) }
		recv := func() (err error) {
			in[rank], err = x.Recv(rank)
			return err
		}
		first, second := send, recv
		if rank < x.Rank() {
			first, second = recv, send
		}
		if err := first(); err != nil {
			return nil, err
		}
		if err := second(); err != nil {
			return nil, err
		}
		if len(in[rank]) == 0 {
			delete(in, rank)
		}
	}
	return in, nil
}

// partners finds the ranks that have blocks for this one, or this one for them. The pairs are passed on over
// distances of 1, 2, 4, …: after as many steps as the number of ranks has binary digits, each rank knows its
// partners.
func (x Messenger) partners(out map[int][]byte) ([]int, error) {
	n, self := x.Size(), x.Rank()
	if n <= everybody {
		list := make([]int, 0, n)
		for rank := range n {
			if rank != self {
				list = append(list, rank)
			}
		}
		return list, nil
	}
	type pair struct{ from, to int }
	with := make(map[int]bool)
	var under []pair
	for to := range out {
		if to != self {
			with[to] = true
			under = append(under, pair{self, to})
		}
	}
	slices.SortFunc(under, func(a, b pair) int { return a.to - b.to })
	for step := 1; step < n; step <<= 1 {
		var msg []byte
		rest := under[:0]
		for _, p := range under {
			if ((p.to-self+n)%n)&step != 0 {
				msg = wire.AppendUvarint(wire.AppendUvarint(msg, uint64(p.from)), uint64(p.to))
			} else {
				rest = append(rest, p)
			}
		}
		under = rest
		var got []byte
		send := func() error { return x.Send((self+step)%n, msg) }
		recv := func() (err error) {
			got, err = x.Recv((self - step + n) % n)
			return err
		}
		first, second := send, recv
		if self&step != 0 {
			first, second = recv, send
		}
		if err := first(); err != nil {
			return nil, err
		}
		if err := second(); err != nil {
			return nil, err
		}
		r := wire.NewReader(got, "partners")
		for r.RemainingLen() > 0 {
			p := pair{r.Int(n - 1), r.Int(n - 1)}
			if err := r.Err(); err != nil {
				return nil, err
			}
			if p.to == self {
				with[p.from] = true
			} else {
				under = append(under, p)
			}
		}
	}
	return slices.Collect(maps.Keys(with)), nil
}

// Reduce combines the members' values and returns the result to all of them. self is the rank's index in the group.
func (x Messenger) Reduce(members []int, self int, own []byte, join func(a, b []byte) []byte) ([]byte, error) {
	all, err := x.Gather(members, self, own, join)
	if err != nil {
		return nil, err
	}
	return x.Broadcast(members, self, all)
}

// Gather combines the members' values, in order of the group, and returns the result to the first member.
func (x Messenger) Gather(members []int, self int, own []byte, join func(a, b []byte) []byte) ([]byte, error) {
	for step := 1; step < len(members); step <<= 1 {
		if self&step != 0 {
			return nil, x.Send(members[self-step], own)
		}
		if self+step < len(members) {
			msg, err := x.Recv(members[self+step])
			if err != nil {
				return nil, err
			}
			own = join(own, msg)
		}
	}
	return own, nil
}

// Broadcast returns the first member's value to all members of a group.
func (x Messenger) Broadcast(members []int, self int, all []byte) ([]byte, error) {
	step := 1
	for step < len(members) && self&step == 0 {
		step <<= 1
	}
	if self > 0 {
		var err error
		if all, err = x.Recv(members[self-step]); err != nil {
			return nil, err
		}
	}
	for step >>= 1; step > 0; step >>= 1 {
		if self+step < len(members) {
			if err := x.Send(members[self+step], all); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// LocalTransports returns transports between n ranks in one process, each with a goroutine.
func LocalTransports(n int) []Transport {
	list, boxes := make([]Transport, n), make([]*mailbox, n)
	for i := range boxes {
		boxes[i] = &mailbox{from: make(map[int][][]byte)}
		boxes[i].came.L = &boxes[i].mu
	}
	for i := range list {
		list[i] = &virtual{i, boxes}
	}
	return list
}

// RunRanks runs do for n ranks in one process, each in a goroutine. If one fails, no other blocks on it.
func RunRanks(n int, do func(t Transport) error) error {
	list := LocalTransports(n)
	return errors.Join(together(list, do, list[0].(*virtual).close)...)
}

// together runs do for each rank and returns the errors by rank; failed is called when a rank fails.
func together(ranks []Transport, do func(t Transport) error, failed func()) (errs []error) {
	errs = make([]error, len(ranks))
	var wait sync.WaitGroup
	for i, t := range ranks {
		wait.Go(func() {
			if errs[i] = do(t); errs[i] != nil {
				failed()
			}
		})
	}
	wait.Wait()
	return errs
}

// A mailbox holds the messages that a rank was sent and has not received.
type mailbox struct {
	mu     sync.Mutex
	came   sync.Cond
	from   map[int][][]byte
	closed bool
}

type virtual struct {
	rank  int
	boxes []*mailbox
}

func (v *virtual) Rank() int { return v.rank }

func (v *virtual) Size() int { return len(v.boxes) }

func (v *virtual) Send(to int, msg []byte) error {
	b := v.boxes[to]
	b.mu.Lock()
	b.from[v.rank] = append(b.from[v.rank], msg)
	b.mu.Unlock()
	b.came.Broadcast()
	return nil
}

var errClosed = errors.New("a rank has left")

func (v *virtual) Recv(from int) ([]byte, error) {
	b := v.boxes[v.rank]
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.from[from]) == 0 {
		if b.closed {
			return nil, fmt.Errorf("rank %d waits for rank %d: %w", v.rank, from, errClosed)
		}
		b.came.Wait()
	}
	msg := b.from[from][0]
	b.from[from] = b.from[from][1:]
	return msg, nil
}

// close makes Recv fail, on all ranks, where no message is left.
func (v *virtual) close() {
	for _, b := range v.boxes {
		b.mu.Lock()
		b.closed = true
		b.mu.Unlock()
		b.came.Broadcast()
	}
}
