package replay

import (
	"fmt"
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/test/tracktest"
)

// A meeting is an MPI of several ranks in which no message has room to wait: a send ends when its receive has been posted.
// It knows when all ranks wait for each other.
type meeting struct {
	mu      sync.Mutex
	changed *sync.Cond
	alive   int // ranks that have not ended
	waiting int // of these, since something changed
	dead    bool

	sends, receives map[link][]*parcel // that have no other end yet
	requests        map[uint64]*parcel
	last            uint64
	met             map[uint64]map[int]int // collective calls, by communicator and rank
	sent            map[link][]uint64      // bytes, in order
	problems        []string
}

type link struct {
	comm     uint64
	from, to int // of the world
	tag      uint64
}

type parcel struct {
	link
	bytes    uint64
	done     bool
	lasting  bool // a persistent request
	receives bool
}

func newMeeting(ranks int) *meeting {
	m := &meeting{
		alive: ranks, sends: make(map[link][]*parcel), receives: make(map[link][]*parcel), requests: make(map[uint64]*parcel),
		met: make(map[uint64]map[int]int), sent: make(map[link][]uint64), last: 1,
	}
	m.changed = sync.NewCond(&m.mu)
	return m
}

// The handles of MPICH. Of a communicator that MPI_Comm_split makes, the color is in it.
const (
	worldHandle = 0x44000000
	splitHandle = 0x84000000
	nullRequest = 0x2c000000
	intHandle   = 0x4c000405
	packHandle  = 0x4c00010f
)

// A member is a rank's view of a meeting.
type member struct {
	fake
	m          *meeting
	rank, size int
	colors     int
}

// world is the rank in the world of one in a communicator.
func (h *member) world(comm, rank uint64) int {
	if comm == worldHandle {
		return int(rank)
	}
	return int(rank)*h.colors + int(comm-splitHandle)
}

func (h *member) group(comm uint64) (list []int) {
	for r := range h.size {
		if comm == worldHandle || r%h.colors == int(comm-splitHandle) {
			list = append(list, r)
		}
	}
	return list
}

// until waits. The meeting is locked.
func (m *meeting) until(what func() bool) {
	for !m.dead && !what() {
		if m.waiting++; m.waiting >= m.alive {
			m.dead = true
			m.changed.Broadcast()
			return
		}
		m.changed.Wait()
	}
}

// change lets all look again.
func (m *meeting) change() {
	m.waiting = 0
	m.changed.Broadcast()
}

func (m *meeting) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alive--
	m.change()
}

// match begins a message, and joins it with its other end if that is there.
func (m *meeting) match(x *parcel) {
	own, other := m.sends, m.receives
	if x.receives {
		own, other = other, own
	} else {
		m.sent[x.link] = append(m.sent[x.link], x.bytes)
	}
	x.done = false
	list := other[x.link]
	if len(list) == 0 {
		own[x.link] = append(own[x.link], x)
		return
	}
	y := list[0]
	other[x.link] = list[1:]
	if x.bytes != y.bytes {
		m.problems = append(m.problems, fmt.Sprintf("%+v meets %+v", *x, *y))
	}
	x.done, y.done = true, true
	m.change()
}

// parcel is what a send or receive is about.
func (h *member) parcel(c *Call, receives bool) *parcel {
	w := &c.Words
	x := &parcel{link: link{w[5], h.rank, h.world(w[5], w[3]), w[4]}, bytes: w[1], receives: receives}
	switch w[2] {
	case intHandle:
		x.bytes *= 4
	case packHandle:
	default:
		h.m.problems = append(h.m.problems, fmt.Sprintf("type %#x", w[2]))
	}
	if receives {
		x.from, x.to = x.to, x.from
	}
	return x
}

func (h *member) MakeCall(c *Call) {
	h.fake.MakeCall(c)
	name := h.log[len(h.log)-1]
	m := h.m
	m.mu.Lock()
	defer m.mu.Unlock()
	request := func(x *parcel) {
		m.last++
		m.requests[m.last] = x
		store(c.Words[6], 4, m.last)
	}
	wait := func(at uint64) {
		id := load(at, 4)
		if id == nullRequest {
			return
		}
		x := m.requests[id]
		if x == nil {
			m.problems = append(m.problems, fmt.Sprintf("%s: no request %d", name, id))
			return
		}
		m.until(func() bool { return x.done })
		if !x.lasting {
			delete(m.requests, id)
			store(at, 4, nullRequest)
		}
	}
	switch name {
	case "MPI_Send", "MPI_Ssend":
		x := h.parcel(c, false)
		m.match(x)
		m.until(func() bool { return x.done })
	case "MPI_Isend", "MPI_Issend", "MPI_Irecv":
		x := h.parcel(c, name == "MPI_Irecv")
		request(x)
		m.match(x)
	case "MPI_Send_init":
		x := h.parcel(c, false)
		x.lasting, x.done = true, true
		request(x)
	case "MPI_Start":
		x := m.requests[load(c.Words[0], 4)]
		if x == nil || !x.done {
			m.problems = append(m.problems, "MPI_Start: a request that is under way or isn't there")
			return
		}
		m.match(x)
	case "MPI_Wait":
		wait(c.Words[0])
	case "MPI_Waitall":
		for i := range c.Words[0] {
			wait(c.Words[1] + 4*i)
		}
	case "MPI_Request_free":
		if x := m.requests[load(c.Words[0], 4)]; x == nil || !x.done {
			m.problems = append(m.problems, "MPI_Request_free: a request that is under way or isn't there")
		}
		store(c.Words[0], 4, nullRequest)
	case "MPI_Init", "MPI_Finalize", "MPI_Barrier", "MPI_Comm_split", "MPI_Ibarrier":
		comm := uint64(worldHandle)
		switch name {
		case "MPI_Barrier", "MPI_Ibarrier":
			comm = c.Words[0]
		case "MPI_Comm_split":
			store(c.Words[3], 4, splitHandle+c.Words[1])
		}
		if m.met[comm] == nil {
			m.met[comm] = make(map[int]int)
		}
		m.met[comm][h.rank]++
		n := m.met[comm][h.rank]
		m.change()
		all := func() bool {
			for _, r := range h.group(comm) {
				if m.met[comm][r] < n {
					return false
				}
			}
			return true
		}
		if name == "MPI_Ibarrier" {
			m.last++
			x := &parcel{done: true} // its wait comes at once
			m.requests[m.last] = x
			store(c.Words[1], 4, m.last)
		}
		m.until(all)
	default:
		if !strings.HasPrefix(name, "MPI_Comm_") {
			m.problems = append(m.problems, "a call of "+name)
		}
	}
}

const (
	world = tracktest.World
	split = 1024 // the first communicator that a rank makes
)
