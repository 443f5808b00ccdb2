// Simulate predicts when each rank of a schedule ends, under the LogGOPS model and by
// LogGOPSim's rules: its times are LogGOPSim's, to the digit.
//
// A rank has a CPU, which calculates, sends and takes in messages, and a NIC, which sends and
// receives side by side. A send of s bytes keeps the CPU busy for o + (s-1)O, the NIC for
// g + (s-1)G. Its message arrives o + L after it began, waits for the receiver's CPU and NIC,
// and keeps them busy for o + (s-1)·max(O, G) and g + (s-1)G, whether or not its receive has
// begun; a receive takes nothing by itself. A send of at most S bytes has ended when it has
// begun; a larger one when message and receive have met, and its rank begins nothing before.
//
// A rank may have several CPUs, which share the NIC. There LogGOPSim has operations begin before others on another CPU have
// ended that they wait for, and charges messages to the CPU that has the number of the sender's; here nothing begins before
// what it waits for, and messages are charged where they are received.

package goal

import (
	"fmt"
	"math/bits"
)

// Parameters are those of the model, in the schedule's unit of time and in bytes.
type Parameters struct {
	Latency      uint64 `json:"latency"`       // L
	Overhead     uint64 `json:"overhead"`      // o
	MessageGap   uint64 `json:"message_gap"`   // g
	ByteGap      uint64 `json:"byte_gap"`      // G
	ByteOverhead uint64 `json:"byte_overhead"` // O
	Eager        uint64 `json:"eager"`         // S, the largest message that doesn't wait for its receive
}

// DefaultParameters are LogGOPSim's, in ns.
var DefaultParameters = Parameters{Latency: 2500, Overhead: 1500, MessageGap: 1000, ByteGap: 6, Eager: 65535}

// horizon is as far as times go: what one operation adds to them can't overflow.
const horizon = 1 << 62

// valid reports whether a schedule can be simulated: each operation takes less than half of the
// horizon, and there is no second NIC.
func (p *Parameters) valid(s *Schedule) error {
	if len(s.Ops) >= message {
		return fmt.Errorf("%d operations: fewer than %d are possible", len(s.Ops), message)
	}
	var fixed uint64
	for _, x := range []struct {
		name string
		time uint64
	}{{"L", p.Latency}, {"o", p.Overhead}, {"g", p.MessageGap}} {
		if x.time > horizon/8 {
			return fmt.Errorf("%s is %d: at most %d is possible", x.name, x.time, uint64(horizon/8))
		}
		fixed += x.time
	}
	for rank := range s.Ranks() {
		from, to := s.Rank(rank)
		for i := from; i < to; i++ {
			o := &s.Ops[i]
			if o.NIC > 0 {
				return fmt.Errorf("rank %d: %s: a rank has only one NIC here", rank, o)
			}
			over, time := uint64(0), o.Size
			if o.Kind != Calc {
				over, time = bits.Mul64(furtherBytes(o.Size), max(p.ByteGap, p.ByteOverhead))
			}
			if over > 0 || time > horizon/2-fixed {
				return fmt.Errorf("rank %d: %s: takes longer than times can say", rank, o)
			}
		}
	}
	return nil
}

// furtherBytes are those of a message after its first, which o, g and L are for.
func furtherBytes(size uint64) uint64 { return max(size, 1) - 1 }
