// Package machine describes computers as the simulation of a run needs them: how far ranks
// are from each other, how long messages take over which distance, how fast cores are.
//
// The model is LogGP's (Alexandrov et al., SPAA 1995) with tables in place of one latency and
// one bandwidth: o is the overhead of a message at either end, g the gap between messages,
// and L and G together are the time that a message of a size takes one way, for each of two
// protocols. Networks are never crowded in it.
package machine

import "math"

// A Machine is what a file says. Times are in picoseconds.
type Machine struct {
	Name    string
	Source  string  // where its figures come from
	CPU     float64 // how many times as fast its cores are as those of the traced run
	Combine float64 // ps for each byte of an operand of a reduction
	Levels  []Level // the nearest first
}

// A Level is one distance between ranks: those which share a core, a socket, a node or a switch.
type Level struct {
	Name            string
	Ranks           int   // how many share one; 0 in the last level, which holds all
	SendOverhead    int64 // how long a message keeps the sender's core busy
	ReceiveOverhead int64 // and the receiver's
	Gap             int64 // least time between two messages of a sender
	EagerLimit      int64 // in bytes: larger messages wait for their receive
	Eager           Table
	Rendezvous      Table // of which no row means: eager's, and two latencies for the handshake
}

// NoLimit is the EagerLimit of a level on which no message waits for its receive because of its size.
const NoLimit = math.MaxInt64

// Latency is how long the smallest message is under way, without what it costs both ends.
func (l *Level) Latency() int64 {
	return max(0, l.Eager.OneWay(0)-l.SendOverhead-l.ReceiveOverhead)
}

// EagerTime is how long it takes from the beginning of a send to the end of a receive
// that was posted before.
func (l *Level) EagerTime(bytes int64) int64 {
	return max(l.Eager.OneWay(bytes), l.SendOverhead+l.ReceiveOverhead)
}

// RendezvousTime is the same for messages that wait for their receive.
func (l *Level) RendezvousTime(bytes int64) int64 {
	if len(l.Rendezvous) == 0 {
		return l.EagerTime(bytes) + 2*l.Latency()
	}
	return max(l.Rendezvous.OneWay(bytes), l.SendOverhead+l.ReceiveOverhead+l.Latency())
}

// Busy is how long a message keeps the sender from beginning another one: its gap, or the
// time that its bytes take.
func (l *Level) Busy(bytes int64, rendezvous bool) int64 {
	t := l.Eager
	if rendezvous && len(l.Rendezvous) > 0 {
		t = l.Rendezvous
	}
	return max(l.Gap, t.OneWay(bytes)-max(0, t.OneWay(0)))
}

// A Table gives times by size, linear between its rows and on beyond the last one.
type Table []Row

// A Row is a size in bytes and the time in ps that a message of that size takes one way.
type Row struct{ Bytes, Time int64 }

// longest bounds what a table gives: sums of as many times as a run has messages fit an int64.
const longest = 1e15 // 1,000 s

// OneWay returns the time for a size.
func (t Table) OneWay(bytes int64) int64 {
	switch {
	case len(t) == 0:
		return 0
	case len(t) == 1:
		return t[0].Time
	}
	i := 1
	for i < len(t)-1 && t[i].Bytes < bytes {
		i++
	}
	a, b := t[i-1], t[i]
	slope := float64(b.Time-a.Time) / float64(b.Bytes-a.Bytes)
	return a.Time + int64(math.Round(max(-float64(a.Time), min(longest, float64(bytes-a.Bytes)*slope))))
}
