package convert

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// nodes is the hosts that ranks ran on. Each rank counts as a processor of its own, which the rank's threads share.
type nodes struct {
	names   []string
	ranks   []int // by node: number of ranks
	node    []int // by rank: index of its node, in names
	cpu     []int // by rank: number of its processor, from 1, counted over all nodes
	threads []int // by rank: number of threads
	started time.Time
}

func newNodes(r *trace.Reader) (*nodes, error) {
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	n := &nodes{node: make([]int, r.Ranks()), cpu: make([]int, r.Ranks()), threads: make([]int, r.Ranks())}
	if ns, err := strconv.ParseInt(r.Meta()[trace.MetaStart], 10, 64); err == nil {
		n.started = time.Unix(0, ns)
	}
	index := make(map[string]int)
	for rank := range r.Ranks() {
		host := "unknown"
		if rank < procs.Len() {
			host = cmp.Or(procs.At(rank).Host, host)
		}
		at, fresh := once.NumberOf(index, host)
		if fresh {
			n.names, n.ranks = append(n.names, host), append(n.ranks, 0)
		}
		n.node[rank] = at
		n.ranks[at]++
		n.threads[rank] = 1
		if r.ClassOf(rank) >= 0 {
			k, err := r.Rank(rank)
			if err != nil {
				return nil, err
			}
			n.threads[rank] = max(1, k.Streams())
		}
	}
	next := make([]int, len(n.names))
	for i := 1; i < len(next); i++ {
		next[i] = next[i-1] + n.ranks[i-1]
	}
	for rank, at := range n.node {
		next[at]++
		n.cpu[rank] = next[at]
	}
	return n, nil
}

// who names a thread as Paraver's records do: processor:application:task:thread, each from 1.
func (n *nodes) who(rank, stream int) []byte {
	return fmt.Appendf(nil, "%d:1:%d:%d", n.cpu[rank], rank+1, stream+1)
}

// rows writes the .row file: names of processors, nodes and threads.
func (n *nodes) rows(path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "LEVEL CPU SIZE %d\n", len(n.cpu))
	at := 0
	for i, name := range n.names {
		for range n.ranks[i] {
			at++
			fmt.Fprintf(&b, "%d.%s\n", at, name)
		}
	}
	fmt.Fprintf(&b, "\nLEVEL NODE SIZE %d\n%s\n", len(n.names), strings.Join(n.names, "\n"))
	fmt.Fprintf(&b, "\nLEVEL THREAD SIZE %d\n", n.all())
	for rank, t := range n.threads {
		for i := range t {
			fmt.Fprintf(&b, "THREAD 1.%d.%d\n", rank+1, i+1)
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o666)
}

// all returns the number of threads of all ranks.
func (n *nodes) all() (total int) {
	for _, t := range n.threads {
		total += t
	}
	return total
}

// header appends the first line of the .prv file, and a line with the members of each communicator.
func (w *ParaverWriter) header(b []byte) []byte {
	n := w.nodes
	b = fmt.Appendf(b, "#Paraver (%s):%d_ns:%d(", n.started.UTC().Format("02/01/06 at 15:04"), w.last, len(n.names))
	for i, ranks := range n.ranks {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(ranks), 10)
	}
	b = fmt.Appendf(b, "):1:%d(", len(n.node))
	for rank, threads := range n.threads {
		if rank > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d:%d", threads, n.node[rank]+1)
	}
	comms := w.s.Comms.List()
	b = fmt.Appendf(b, "),%d\n", len(comms))
	for _, c := range comms {
		var members []byte
		size := 0
		for _, rank := range c.Members() {
			if rank >= 0 {
				members = field(members, int64(rank+1))
				size++
			}
		}
		b = fmt.Appendf(b, "c:1:%d:%d%s\n", c.Number+1, size, members)
	}
	return b
}

// labels writes the .pcf file: names of states, event types and event values.
func (w *ParaverWriter) labels() error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(w.o.Metadata)) {
		fmt.Fprintf(&b, "#%s: %s\n", strings.ToLower(key), strings.Join(strings.Fields(w.o.Metadata[key]), " "))
	}
	b.WriteString(`
DEFAULT_OPTIONS

LEVEL               THREAD
UNITS               NANOSEC
LOOK_BACK           100
SPEED               1
FLAG_ICONS          ENABLED
NUM_OF_STATE_COLORS 1000
YMAX_SCALE          37


DEFAULT_SEMANTIC

THREAD_FUNC          State As Is


STATES
`)
	for _, s := range states {
		fmt.Fprintf(&b, "%d    %s\n", s.number, s.name)
	}
	b.WriteString("\n\nSTATES_COLOR\n")
	for _, s := range states {
		fmt.Fprintf(&b, "%d    %s\n", s.number, s.color)
	}
	byType := make(map[int][]*function)
	for _, f := range w.functions {
		byType[f.event] = append(byType[f.event], f)
	}
	for _, t := range []struct {
		number int
		name   string
	}{
		{pointToPoint, "MPI Point-to-point"}, {collective, "MPI Collective Comm"}, {other, "MPI Other"}, {oneSided, "MPI One-sided"}, {fileIO, "MPI I/O"},
	} {
		list := byType[t.number]
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b *function) int { return cmp.Compare(a.value, b.value) })
		fmt.Fprintf(&b, "\n\nEVENT_TYPE\n9    %d    %s\nVALUES\n0      Outside MPI\n", t.number, t.name)
		for _, f := range list {
			fmt.Fprintf(&b, "%d      %s\n", f.value, f.name)
		}
	}
	fmt.Fprintf(&b, `

EVENT_TYPE
1    %d    Send Size in MPI Global OP
1    %d    Recv Size in MPI Global OP
1    %d    Root in MPI Global OP
1    %d    Communicator in MPI Global OP


EVENT_TYPE
0    %d    Caller line at level 1
VALUES
0      End
`, sentType, receivedType, rootType, commType, lineType)
	for i, s := range w.s.Sites {
		file, line := w.o.SourceLine(s)
		if line > 0 {
			fmt.Fprintf(&b, "%d      %d (%s)\n", i+1, line, file)
		} else {
			fmt.Fprintf(&b, "%d      %s\n", i+1, file)
		}
	}
	for i, name := range w.values {
		fmt.Fprintf(&b, "\n\nEVENT_TYPE\n7    %d    %s\n", valueType+i, name)
	}
	if len(w.o.Marks) > 0 {
		fmt.Fprintf(&b, "\n\nEVENT_TYPE\n9    %d    Findings\nVALUES\n", finding)
	}
	for i, m := range w.o.Marks {
		fmt.Fprintf(&b, "%d      %s\n", i+1, m.Text)
	}
	return os.WriteFile(filepath.Join(w.dir, ParaverBaseName+".pcf"), []byte(b.String()), 0o666)
}
