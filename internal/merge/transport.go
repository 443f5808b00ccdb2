package merge

import (
	"errors"
	"fmt"
)

// A Transport carries messages between the ranks of a program. Messages
// between two ranks arrive in the order in which they were sent.
type Transport interface {
	Rank() int
	Size() int
	Send(to int, msg []byte) error
	Recv(from int) ([]byte, error)
}

// Memory returns the transports of n virtual ranks in one process, each to be
// used by a goroutine of its own.
func Memory(n int) []Transport {
	boxes := make(map[[2]int]chan []byte)
	// Only the edges of the tree are used, so that n² channels aren't needed.
	for r := 1; r < n; r++ {
		boxes[[2]int{r, Parent(r)}] = make(chan []byte, 1)
		boxes[[2]int{Parent(r), r}] = make(chan []byte, 1)
	}
	list := make([]Transport, n)
	for i := range list {
		list[i] = &memory{rank: i, size: n, boxes: boxes}
	}
	return list
}

type memory struct {
	rank, size int
	boxes      map[[2]int]chan []byte
}

var errNoEdge = errors.New("not an edge of the tree")

func (m *memory) Rank() int { return m.rank }

func (m *memory) Size() int { return m.size }

func (m *memory) Send(to int, msg []byte) error {
	box := m.boxes[[2]int{m.rank, to}]
	if box == nil {
		return fmt.Errorf("send from %d to %d: %w", m.rank, to, errNoEdge)
	}
	box <- msg
	return nil
}

func (m *memory) Recv(from int) ([]byte, error) {
	box := m.boxes[[2]int{from, m.rank}]
	if box == nil {
		return nil, fmt.Errorf("receive from %d at %d: %w", from, m.rank, errNoEdge)
	}
	return <-box, nil
}
