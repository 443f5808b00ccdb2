//go:build cgo

package main

import (
	"hash/fnv"
	"os"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// clocks is the result of comparing the ranks' clocks at the start of the run. It is needed for the comparison at the
// end.
type clocks struct {
	group *timing.SharedClocks
	first []timing.ClockEstimate
}

// sync compares the ranks' clocks for the first time, at the start of the run.
func (r *recorder) sync() (err error) {
	c := &r.clocks
	if c.group, err = timing.FindSharedClocks(fixed{r.host}, clockID(r.host.Rank())); err == nil {
		c.first, err = c.group.Estimate(fixed{r.host}, r.host.wall())
	}
	return err
}

// finish compares the ranks' clocks again, at the end of the run. The result is valid on rank 0 only. It is nil if
// there are several clocks that could not be compared. If all ranks share one clock, it has that one.
func (c *clocks) finish(h host) (*sections.Clocks, error) {
	if c.group == nil { // sync has found that all ranks share one clock
		return &sections.Clocks{List: make([]model.Clock, 1), ClockOfRank: column.Constant(0, h.Size())}, nil
	}
	last, err := c.group.Estimate(fixed{h}, h.wall())
	if err != nil || len(last) == 0 || len(last) != len(c.first) {
		return nil, err
	}
	table := &sections.Clocks{List: timing.ClocksFromEstimates(c.first, last)}
	var of []int64
	c.group.EachRankClock(func(n int) bool { of = append(of, int64(n)); return true })
	table.ClockOfRank = column.ColumnOf(of...)
	return table, nil
}

// oneHost reports whether all ranks are on one host, so that their only clock need not be recorded. Hosts with one
// kernel, such as containers, have different names although they share a clock.
func oneHost(table *sections.Clocks, of *sections.Processes) bool {
	if table == nil || len(table.List) > 1 {
		return false
	}
	for rank := range of.Len() {
		if of.At(rank).Host != of.At(0).Host {
			return false
		}
	}
	return true
}

// wall returns a function that returns the wall clock's time in ns. It computes that from the tick counter, which is
// faster to read. If the last reading of both is older than 200 µs, it reads both again, as the counter's rate isn't
// known accurately yet.
func (h host) wall() func() int64 {
	const fresh = 200_000
	ticks, ns := h.clockPair()
	rate := float64(h.c.ticks_per_ns)
	return func() int64 {
		since := int64(float64(int64(h.ticks()-ticks)) / rate)
		if since > fresh {
			ticks, ns = h.clockPair()
			since = 0
		}
		return ns + since
	}
}

// clockID returns a number that is equal for processes that share a wall clock because they run on the same kernel.
func clockID(rank int) uint64 {
	h := fnv.New64a()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname()
		boot = []byte(name)
	}
	h.Write(boot)
	// Tests simulate different clocks on one host with this variable (shim/clock.c). Then ranks have different clocks.
	for _, s := range strings.Split(os.Getenv("SPOOR_CLOCK_SKEW"), ",") {
		if whose, what, _ := strings.Cut(s, ":"); whose == strconv.Itoa(rank) {
			if strings.Count(what, ":") < 2 {
				what = s // the rank's clock is like no other: a drift begins with the process's first reading
			}
			h.Write([]byte(what))
		}
	}
	return h.Sum64()
}

// fixed sends and receives messages without a length before them, as both sides know the length.
type fixed struct{ host }

func (f fixed) Send(to int, data []byte) error   { return f.send(to, data) }
func (f fixed) Recv(from int, data []byte) error { return f.recv(from, data) }
