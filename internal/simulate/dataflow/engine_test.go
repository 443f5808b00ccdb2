package dataflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// Two ranks on a level with L = 1000 ns, o = 100 ns at either end, and 1 ns for each byte.
const plain = `
[[level]]
name = "switch"
send_overhead_ns = 100
receive_overhead_ns = 100
gap_ns = 50
eager_limit = 1000
eager = [[0, 1200], [1000, 2200]]
rendezvous = [[0, 3200], [1000, 4200]]
`

const ns = 1000

func computing(t int64) Op { return Op{Kind: OpCompute, TimePs: t * ns} }
func send(to, bytes int) Op {
	return Op{Kind: OpSend, Peer: int32(to), Bytes: int64(bytes), Request: NoRequest}
}
func receive(from int) Op    { return Op{Kind: OpReceive, Peer: int32(from), Request: NoRequest} }
func waiting(n int32) Op     { return Op{Kind: OpWait, Request: n} }
func later(o Op, n int32) Op { o.Request = n; return o }
func meet(how WaitPattern, root bool, t int64) Op {
	return Op{Kind: OpMeet, WaitPattern: how, IsRoot: root, Members: 2, TimePs: t * ns, Request: NoRequest}
}

// Times worked out by hand, in ns: end, compute, overhead, wait, transfer.
func TestByHand(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		ranks [2][]Op
		want  [2][5]int64
	}{
		{"ping-pong", [2][]Op{{send(1, 0), receive(1)}, {receive(0), send(0, 0)}},
			[2][5]int64{{2400, 0, 200, 1100, 1100}, {1300, 0, 200, 0, 1100}}},
		{"late sender", [2][]Op{{computing(5000), send(1, 100)}, {receive(0)}},
			[2][5]int64{{5100, 5000, 100, 0, 0}, {6300, 0, 100, 5000, 1200}}},
		{"late receiver of an eager message", [2][]Op{{send(1, 100)}, {computing(5000), receive(0)}},
			[2][5]int64{{100, 0, 100, 0, 0}, {5100, 5000, 100, 0, 0}}},
		// Word of it is there after 1,100; without being late it would take 5,200 in all. The
		// last byte has left 1,000 before it arrives.
		{"late receiver of a large message", [2][]Op{{send(1, 2000)}, {computing(5000), receive(0)}},
			[2][5]int64{{8000, 0, 100, 4900, 3000}, {9100, 5000, 100, 0, 4000}}},
		{"large message, receive in time", [2][]Op{{send(1, 2000)}, {receive(0)}},
			[2][5]int64{{4100, 0, 100, 0, 4000}, {5200, 0, 100, 0, 5100}}},
		{"synchronous", [2][]Op{{later(Op{Kind: OpSend, Peer: 1, IsSynchronous: true}, 0), computing(10), waiting(0)}, {computing(2000), receive(0)}},
			[2][5]int64{{3000, 10, 100, 1890, 1000}, {4100, 2000, 100, 0, 2000}}},
		// The second leaves when the bytes of the first have, and arrives 1,700 later.
		{"two messages in a row", [2][]Op{{send(1, 600), send(1, 600)}, {receive(0), receive(0)}},
			[2][5]int64{{200, 0, 200, 0, 0}, {2400, 0, 200, 0, 2200}}},
		{"overlap", [2][]Op{{send(1, 500)}, {later(receive(0), 0), computing(1000), waiting(0)}},
			[2][5]int64{{100, 0, 100, 0, 0}, {1700, 1000, 100, 0, 600}}},
		{"barrier", [2][]Op{{computing(100), meet(WaitForAll, false, 30)}, {computing(500), meet(WaitForAll, false, 20)}},
			[2][5]int64{{530, 100, 0, 400, 30}, {530, 500, 0, 0, 30}}},
		{"from the root", [2][]Op{{computing(700), meet(WaitForRoot, true, 10)}, {meet(WaitForRoot, false, 20)}},
			[2][5]int64{{710, 700, 0, 0, 10}, {720, 0, 0, 700, 20}}},
		{"to the root", [2][]Op{{meet(RootWaitsForAll, true, 10)}, {computing(700), meet(RootWaitsForAll, false, 20)}},
			[2][5]int64{{720, 0, 0, 700, 20}, {720, 700, 0, 0, 20}}},
	} {
		var got [2][5]int64
		for i, x := range run(t, c.ranks[:], m, machine.MappingBlock).Ranks {
			got[i] = [5]int64{x.EndPs / ns, x.ComputePs / ns, x.OverheadPs / ns, x.WaitPs / ns, x.TransferPs / ns}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestDeadlock(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ranks [2][]Op
		want  string
	}{
		{[2][]Op{{send(1, 5000), receive(1)}, {send(0, 5000), receive(0)}},
			"deadlock: 2 ranks don't end; rank 0 waits in a send to rank 1 with tag 0, whose receive is not posted"},
		{[2][]Op{{}, {later(receive(0), 0), waiting(0)}}, "deadlock: 1 rank doesn't end; rank 1 waits in a receive from rank 0 with tag 0"},
		{[2][]Op{{meet(WaitForAll, false, 0)}, {}}, "deadlock: 1 rank doesn't end; rank 0 waits in a collective of 2 ranks"},
	} {
		a, b := list(c.ranks[0]), list(c.ranks[1])
		_, err := Simulate([]Program{&a, &b}, m.PlaceRanks(2, machine.MappingBlock), Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
