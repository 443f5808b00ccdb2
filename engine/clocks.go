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

// clocks is the state of comparing the ranks' clocks, between begin and end of the run.
type clocks struct {
	group *timing.SharedClocks
	first []timing.ClockEstimate
}

// sync compares the clocks for the first time.
func (r *recorder) sync() (err error) {
	c := &r.clocks
	if c.group, err = timing.FindSharedClocks(fixed{r.host}, clockID(r.host.Rank())); err == nil {
		c.first, err = c.group.Estimate(fixed{r.host}, r.host.wall())
	}
	return err
}

// finish compares the clocks again. The result is valid on rank 0 only. It is nil if several clocks could not be
// compared. A single clock of several hosts is a result, too: see oneHost.
func (c *clocks) finish(h host) (*sections.Clocks, error) {
	if c.group == nil { // all ranks have found at the start that there is only one clock
		return &sections.Clocks{List: make([]model.Clock, 1), ClockOfRank: column.Constant(0, h.Size())}, nil
	}
	last, err := c.group.Estimate(fixed{h}, h.wall())
	if err != nil || len(last) == 0 || len(last) != len(c.first) {
		return nil, err
	}
	table := &sections.Clocks{List: timing.ClockLines(c.first, last)}
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

// wall returns a function that computes the wall clock from ticks, which is faster than reading both. If the last
// reading is too old, the function reads both again, as the rate is not accurate yet.
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

// clockID returns a number that is equal for processes with the same wall clock: those on one kernel.
func clockID(rank int) uint64 {
	h := fnv.New64a()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname()
		boot = []byte(name)
	}
	h.Write(boot)
	// Clock differences simulated by a test (shim/clock.c).
	for _, s := range strings.Split(os.Getenv("SPOOR_CLOCK_SKEW"), ",") {
		if whose, what, _ := strings.Cut(s, ":"); whose == strconv.Itoa(rank) {
			if strings.Count(what, ":") < 2 {
				what = s // drift counts from the process's first reading
			}
			h.Write([]byte(what))
		}
	}
	return h.Sum64()
}

// fixed is the transport for messages whose length both sides know.
type fixed struct{ host }

func (f fixed) Send(to int, data []byte) error   { return f.send(to, data) }
func (f fixed) Recv(from int, data []byte) error { return f.recv(from, data) }
