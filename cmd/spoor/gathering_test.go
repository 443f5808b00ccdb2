package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/recover"
)

func TestGatheringText(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(call, host string, rank, ranks, local int, job string) recover.InitFinalizeMark {
		return recover.InitFinalizeMark{Call: call, Host: host, PID: 100 + rank, StartNs: 990e9, Rank: rank, Ranks: ranks, LocalRanks: local, Job: job, Alive: true}
	}
	recorded := func(rank, ranks, pid int) *recover.Process {
		return &recover.Process{Context: &capture.Context{Host: "node1", PID: pid, Rank: rank, Ranks: ranks}}
	}
	through := func(rank, ranks int) *recover.Process { return recorded(rank, ranks, 200+rank) }
	for _, c := range []struct {
		name      string
		list      []recover.InitFinalizeMark
		processes []*recover.Process
		spawns    int
		want      string
	}{
		{"hosts", []recover.InitFinalizeMark{at("MPI_Init", "node1", 0, 4, 2, ""), at("MPI_Init_thread", "node2", 2, 4, 2, "")}, nil, 0,
			"MPI_Init: 2 of 4 processes have come, from node1 (1 of 2), node2 (1 of 2); not 2 ranks (1,3)"},
		{"one host of two", []recover.InitFinalizeMark{at("MPI_Init", "node1", 0, 4, 2, ""), at("MPI_Init", "node1", 1, 4, 2, "")}, nil, 0,
			"MPI_Init: 2 of 4 processes have come, from node1 (2 of 2); others run on hosts that can't be seen here"},
		{"one is through", []recover.InitFinalizeMark{at("MPI_Init", "node1", 1, 3, 3, "")}, []*recover.Process{through(0, 3)}, 0,
			"MPI_Init: 2 of 3 processes have come, from node1 (2 of 3); not rank 2"},
		{"its records are there, but it is in the call", []recover.InitFinalizeMark{at("MPI_Init", "node1", 0, 2, 2, "")}, []*recover.Process{recorded(0, 2, 100)}, 0,
			"MPI_Init: 1 of 2 processes has come, from node1 (1 of 2); not rank 1"},
		{"not known", []recover.InitFinalizeMark{at("MPI_Session_init", "node1", -1, 0, 0, "")}, nil, 0, "MPI_Session_init: 1 process has come, from node1 (1)"},
		{"at the end", []recover.InitFinalizeMark{at("MPI_Finalize", "node1", 1, 2, 2, "")}, []*recover.Process{through(0, 2), through(1, 2)}, 0,
			"MPI_Finalize: 1 of 2 processes has come, from node1 (1 of 2); not rank 0"},
		{"spawned", []recover.InitFinalizeMark{at("MPI_Init", "node1", 0, 2, 2, "b")}, []*recover.Process{through(0, 2), through(1, 2)}, 2,
			"MPI_Init of what is spawned: 1 of 2 processes has come, from node1 (1 of 2); not rank 1"},
		{"none of what is spawned", nil, []*recover.Process{through(0, 1)}, 3, "MPI_Init of what is spawned: 0 of 3 processes have come"},
		{"two jobs", []recover.InitFinalizeMark{at("MPI_Init", "node1", 0, 2, 2, "a"), at("MPI_Init", "node1", 0, 3, 3, "b")}, nil, 0,
			"MPI_Init: 1 of 2 processes has come, from node1 (1 of 2); not rank 1 | MPI_Init: 1 of 3 processes has come, from node1 (1 of 3); not 2 ranks (1-2)"},
	} {
		var got []string
		for _, g := range gatheringsOf(c.list, c.processes, c.spawns, now) {
			got = append(got, g.line())
			var b strings.Builder
			if g.print(&b, 8); len(c.list) == 1 && !strings.Contains(b.String(), " for 10 s (node1, process ") {
				t.Errorf("%s: %s", c.name, b.String())
			}
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, text, c.want)
		}
	}
}
