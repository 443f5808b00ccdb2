package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/recover"
	"github.com/spoor-hpc/spoor/internal/show"
)

// A gathering is the processes of a job in a call that no process leaves before all have arrived: MPI_Init,
// MPI_Session_init, MPI_Finalize, or MPI_Init of spawned processes.
type gathering struct {
	Function string          `json:"function"`
	Spawned  bool            `json:"spawned,omitempty"` // the processes are spawned, and their parent waits for them
	Come     int             `json:"come"`              // number of processes that have entered the call
	Expected int             `json:"expected"`          // number of processes of the job; 0: not known
	Hosts    []gatheringHost `json:"hosts"`
	Missing  []int           `json:"missing"`             // ranks not in the call yet; nil: none, or not known
	Ranks    []gatheringRank `json:"ranks"`               // processes that are in the call
	Unseen   bool            `json:"elsewhere,omitempty"` // the job has processes on hosts that can't be seen here
}

type gatheringHost struct {
	Name     string `json:"name"`
	Come     int    `json:"come"`
	Expected int    `json:"expected,omitempty"`
}

type gatheringRank struct {
	Rank    int    `json:"rank"` // rank in MPI_COMM_WORLD; -1: not known
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	SinceNs int64  `json:"since_ns"`
	Ended   bool   `json:"ended,omitempty"`
}

// gatheringsOf groups arrival marks, which processes leave while they are in such a call, by call and job. processes
// are those with records: they have left MPI_Init. spawns is the number of processes that MPI_Comm_spawn waits for.
func gatheringsOf(list []recover.InitFinalizeMark, processes []*recover.Process, spawns int, now time.Time) []gathering {
	type key struct{ function, job string }
	var order []key
	of := make(map[key][]recover.InitFinalizeMark)
	for _, a := range list {
		k := key{strings.TrimSuffix(a.Call, "_thread"), a.Job}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], a)
	}
	out := []gathering{}
	spawning := false
	for _, k := range order {
		g := gathered(k.function, of[k], processes, now)
		if g.Spawned = spawns > 0 && k.function == "MPI_Init"; g.Spawned {
			spawning, g.Expected = true, max(g.Expected, spawns)
		}
		out = append(out, g)
	}
	if spawns > 0 && !spawning {
		out = append(out, gathering{Function: "MPI_Init", Spawned: true, Expected: spawns, Hosts: []gatheringHost{}, Ranks: []gatheringRank{}})
	}
	return out
}

func gathered(function string, list []recover.InitFinalizeMark, processes []*recover.Process, now time.Time) gathering {
	g := gathering{Function: function, Hosts: []gatheringHost{}, Ranks: []gatheringRank{}}
	come, inside := make(map[int]bool), make(map[string]bool)
	host := func(name string, expected int) {
		i := slices.IndexFunc(g.Hosts, func(h gatheringHost) bool { return h.Name == name })
		if i < 0 {
			i = len(g.Hosts)
			g.Hosts = append(g.Hosts, gatheringHost{Name: name})
		}
		g.Hosts[i].Come++
		g.Hosts[i].Expected = max(g.Hosts[i].Expected, expected)
	}
	process := func(host string, pid int) string { return fmt.Sprint(host, " ", pid) }
	for _, a := range list {
		g.Expected = max(g.Expected, a.Ranks)
		g.Ranks = append(g.Ranks, gatheringRank{a.Rank, a.Host, a.PID, max(0, now.UnixNano()-a.StartNs), !a.Alive && a.Host == hostname()})
		come[a.Rank] = a.Rank >= 0
		inside[process(a.Host, a.PID)] = true
		host(a.Host, a.LocalRanks)
		g.Come++
	}
	var through []*capture.Context
	for _, p := range processes {
		if c := p.Context; c != nil && function != "MPI_Finalize" && c.Ranks == g.Expected && !inside[process(c.Host, c.PID)] {
			through = append(through, c)
		}
	}
	// If one rank both has records and is still in the call, there are two processes with that rank. Then the processes
	// with records belong to another job, such as the one that spawned this job.
	if !slices.ContainsFunc(through, func(c *capture.Context) bool { return come[c.Rank] }) {
		for _, c := range through {
			come[c.Rank] = true
			host(c.Host, 0)
			g.Come++
		}
	}
	seen := 0
	for _, h := range g.Hosts {
		seen += max(h.Expected, h.Come)
	}
	if g.Unseen = seen < g.Expected && !slices.ContainsFunc(g.Hosts, func(h gatheringHost) bool { return h.Expected == 0 }); !g.Unseen && !come[-1] {
		for rank := range g.Expected {
			if !come[rank] {
				g.Missing = append(g.Missing, rank)
			}
		}
	}
	return g
}

// line returns a line of text: how many processes have entered the call, on which hosts, and which ranks haven't.
func (g *gathering) line() string {
	what := g.Function
	if g.Spawned {
		what += " of what is spawned"
	}
	number := show.FormatPlural(g.Come, "process")
	if g.Expected > 0 {
		number = fmt.Sprintf("%d of %s", g.Come, show.FormatPlural(g.Expected, "process"))
	}
	verb := "have"
	if g.Come == 1 {
		verb = "has"
	}
	text := fmt.Sprintf("%s: %s %s come", what, number, verb)
	for i, h := range g.Hosts {
		joint := ", "
		if i == 0 {
			joint += "from "
		}
		if h.Expected > 0 {
			text += fmt.Sprintf("%s%s (%d of %d)", joint, h.Name, h.Come, h.Expected)
		} else {
			text += fmt.Sprintf("%s%s (%d)", joint, h.Name, h.Come)
		}
	}
	switch {
	case g.Unseen:
		text += "; others run on hosts that can't be seen here"
	case len(g.Missing) > 0:
		text += "; not " + theseRanks(g.Missing)
	}
	return text
}

// print writes the gathering's line, then a line for each process that is in the call, and since when. With
// more than room + 1 processes it lists the first room, and says how many more there are.
func (g *gathering) print(w io.Writer, room int) {
	fmt.Fprintf(w, "\n%s\n", g.line())
	for i, r := range g.Ranks {
		if i == room && len(g.Ranks) > room+1 {
			fmt.Fprintf(w, "  %d more: --all-ranks\n", len(g.Ranks)-i)
			break
		}
		who := "a process"
		if r.Rank >= 0 {
			who = fmt.Sprintf("rank %d", r.Rank)
		}
		ended := ""
		if r.Ended {
			ended = ", which has ended"
		}
		fmt.Fprintf(w, "  %s: in %s for %s (%s, process %d%s)\n", who, g.Function, show.FormatDuration(float64(r.SinceNs)), r.Host, r.PID, ended)
	}
}

// spawnsOf returns the number of processes for whose start ranks wait in MPI_Comm_spawn; 0: no rank does.
func spawnsOf(rep *hang.Report) (n int) {
	for i := range rep.States {
		for k := range rep.States[i].Ranks {
			n = max(n, rep.States[i].Ranks[k].SpawnedProcesses)
		}
	}
	return n
}

// sayInside prints in which of these calls processes of a job were when the job ended, and removes their arrival marks.
func sayInside(stderr io.Writer, out, scratch string) {
	var list []recover.InitFinalizeMark
	for try := 0; try < 20; try++ {
		list = recover.ReadInitFinalizeMarks(scratch)
		if home := recover.PartialFolder(out, scratch); home != "" {
			list = append(list, recover.ReadInitFinalizeMarks(home)...)
		}
		if !slices.ContainsFunc(list, func(a recover.InitFinalizeMark) bool { return a.Alive }) {
			break
		}
		time.Sleep(50 * time.Millisecond) // processes that still live may be about to end, as their launcher has
	}
	var processes []*recover.Process
	if dirs, err := leftDirs(out, scratch); err == nil && len(list) > 0 {
		processes = recover.ReadProcesses(dirs, func() {})
	}
	for _, g := range gatheringsOf(list, processes, 0, time.Now()) {
		if g.Come == g.Expected || g.Function == "MPI_Finalize" && len(processes) == 0 {
			continue // no process waited: all have entered the call, or all others have completed MPI_Finalize
		}
		fmt.Fprintf(stderr, "spoor: when the job ended: %s\n", g.line())
	}
	recover.RemoveEndedMarks(list)
}
