package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

const two = `
name = "pair"
cpu = 1.5
combine_ns_per_byte = 0.25

[[level]]
name = "node"
ranks = 2
send_overhead_ns = 10
receive_overhead_ns = 20
gap_ns = 5
eager_limit = 100
eager = [[0, 100], [100, 200]]
rendezvous = [
  [101, 400],
  [201, 600],
]

[[level]]
name = "switch"
eager = [[0, 1000.5]]
`

func TestParse(t *testing.T) {
	m, err := ParseMachine("two.toml", []byte(two))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "pair" || m.CPUSpeedup != 1.5 || m.CombinePsPerByte != 250 || len(m.Levels) != 2 {
		t.Errorf("%+v", m)
	}
	near, far := &m.Levels[0], &m.Levels[1]
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"latency", near.LatencyPs(), 70_000},
		{"eager, between rows", near.EagerTimePs(50), 150_000},
		{"eager, beyond the last row", near.EagerTimePs(300), 400_000},
		{"rendezvous", near.RendezvousTimePs(151), 500_000},
		{"busy with a small one", near.SenderBusyTimePs(1, false), 5_000},
		{"busy", near.SenderBusyTimePs(50, false), 50_000},
		{"busy by rendezvous", near.SenderBusyTimePs(201, true), 402_000},
		{"limit", far.EagerLimitBytes, NoEagerLimit},
		{"one row", far.EagerTimePs(1 << 40), 1_000_500},
		{"handshake", far.RendezvousTimePs(8), 3_001_500},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d ps", c.what, c.got, c.want)
		}
	}
}

const barrier = "\n[[collective]]\nfunction = \"Barrier\"\nlevel = \"node\"\n"

func TestErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`name = "pair"`, `name = pair`, "two.toml:2: "},
		{`cpu = 1.5`, `cpu = 0`, "two.toml:3: cpu is 0: "},
		{`cpu = 1.5`, `cpu = nan`, "two.toml:3: cpu is NaN: "},
		{`cpu = 1.5`, `cpus = 1.5`, `two.toml:3: machines have no "cpus"`},
		{`gap_ns = 5`, `gap = 5`, `two.toml:11: machines have no "level.gap"`},
		{`gap_ns = 5`, `gap_ns = -5`, "two.toml:11: gap_ns is -5: a time in ns"},
		{`gap_ns = 5`, `gap_ns = "5"`, "two.toml:11: "},
		{`"node"`, `"rack"`, `two.toml:7: no level "rack": they are core, socket, node, switch`},
		{`"node"`, `"switch"`, `two.toml:20: level "switch" comes after "switch": the nearest goes first`},
		{`ranks = 2`, ``, "two.toml:6: ranks is 0: how many share a node"},
		{`name = "switch"`, "name = \"switch\"\nranks = 3", "two.toml:21: the last level holds all ranks"},
		{`eager = [[0, 1000.5]]`, ``, `two.toml:19: level "switch" has no table of times`},
		{`[101, 400]`, `[101]`, "two.toml:15: a row of a table is [bytes, ns], this one has 1 numbers"},
		{`[201, 600]`, `[101, 600]`, "two.toml:16: a row of a table has more bytes than the one before"},
		{`[201, 600]`, `[201, 300]`, "two.toml:16: a larger message takes no less time: 300 ns after 400"},
		{`[201, 600]`, `[20.5, 600]`, "two.toml:16: 20.5 is no size in bytes"},
		{`[201, 600]`, `[201, inf]`, "two.toml:16: "},
		{`eager_limit = 100`, `eager_limit = -1`, "two.toml:12: eager_limit is -1: "},
		{`eager_limit = 100`, `contention = 2`, "two.toml:12: contention is 2: "},
		{`gap_ns = 5`, `gap_ns = [[0, 5], 7]`, "two.toml:11: a row of a table is [bytes, ns]"},
		{`gap_ns = 5`, "gap_ns = [\n[0, 5],\n[0, 4]]", "two.toml:13: a row of a table has more bytes"},
		{`eager = [[0, 1000.5]]`, "eager = [[0, 1000.5]]\n[recorder]\ngap_ns = -1", "two.toml:23: gap_ns is -1: a time in ns"},
		{`eager = [[0, 1000.5]]`, "eager = [[0, 1000.5]]\n[[collective]]\nfunction = \"Bcast\"", `two.toml:23: no collective "Bcast" with a table: they are Barrier, `},
		{`eager = [[0, 1000.5]]`, "eager = [[0, 1000.5]]\n[[collective]]\nfunction = \"Barrier\"\nlevel = \"socket\"", `two.toml:24: level is "socket", which does not exist`},
		{`eager = [[0, 1000.5]]`, "eager = [[0, 1000.5]]" + barrier, `two.toml:22: members is 0: `},
		{`eager = [[0, 1000.5]]`, "eager = [[0, 1000.5]]" + barrier + "members = 2", `two.toml:22: the collective has no table`},
		{`eager = [[0, 1000.5]]`, "eager = [[0, 1000.5]]" + barrier + "members = 2\ntimes = [[0, 1]]" + barrier + "members = 2\ntimes = [[0, 1]]", `two.toml:27: the second table for Barrier of 2 `},
	} {
		_, err := ParseMachine("two.toml", []byte(strings.Replace(two, c.old, c.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
	for _, c := range []struct{ add, want string }{
		{"[files]\nlatency_ns = -1", "two.toml:23: latency_ns is -1: a time in ns"},
		{"[files]\n\nwrite_ns_per_byte = nan", "two.toml:24: write_ns_per_byte is NaN: a time in ns"},
		{"[files]\nwrites = 1", `two.toml:23: machines have no "files.writes"`},
	} {
		if _, err := ParseMachine("two.toml", []byte(two+c.add)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.add, err, c.want)
		}
	}
	if _, err := ParseMachine("x.toml", []byte("\nalgorithms = \"lam\"\n[[level]]\nname = \"switch\"\neager = [[0, 1]]")); err == nil || err.Error() != `x.toml:2: no algorithms of "lam": mpich or openmpi` {
		t.Error(err)
	}
	if _, err := ParseMachine("x.toml", nil); err == nil || err.Error() != "x.toml:1: no [[level]]: the machine needs one at least" {
		t.Error(err)
	}
}

// A rank alone is as fast as it is, many together as fast as the file system.
func TestFiles(t *testing.T) {
	m, err := ParseMachine("two.toml", []byte("algorithms = \"openmpi\"\n"+two+"[files]\nlatency_ns = 1000\nread_ns_per_byte = 0.5\nwrite_ns_per_byte = 2\nshared_ns_per_byte = 0.25\nopen_ns = 70\nsync_ns = 5\nsync_ns_per_byte = 0.125\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes   int64
		write   bool
		members int
		want    int64
	}{{0, true, 4, 1_000_000}, {100, false, 1, 1_050_000}, {100, false, 4, 1_100_000}, {100, true, 4, 1_200_000}} {
		if got := m.Files.TransferTimePs(c.bytes, c.write, c.members); got != c.want {
			t.Errorf("%+v: %d ps", c, got)
		}
	}
	// 100 bytes of 400: all of that is read, and written back.
	f := m.Files
	if got := []int64{f.OpenTimePs(), f.SyncTimePs(40), f.SievedTimePs(100, false, 4), f.SievedTimePs(100, true, 4)}; !slices.Equal(got, []int64{70_000, 10_000, 1_200_000, 1_200_000 + 1_800_000}) {
		t.Error(got)
	}
	if f.OpenPs = 0; f.OpenTimePs() != f.LatencyPs {
		t.Error(f.OpenTimePs())
	}
	f.OpenPs = 70_000
	again, err := ParseMachine("again", m.FileText(""))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, again); diff != "" {
		t.Error(diff)
	}
}

// Overheads and gaps may follow the size; what the receiver copies is part of the one-way time.
func TestSized(t *testing.T) {
	m, err := ParseMachine("sized.toml", []byte(`
[recorder]
gap_ns = 40
call_ns = 5

[[level]]
name = "node"
send_overhead_ns = [[0, 10], [100, 30]]
receive_overhead_ns = [[0, 20], [100, 50], [300, 700]]
gap_ns = [[0, 12], [100, 32]]
eager_limit = 100
eager = [[0, 100], [100, 200]]
rendezvous = [[101, 400], [301, 600]]

[[collective]]
function = "Allreduce"
level = "node"
members = 2
times = [[8, 500], [16, 700]]

[[collective]]
function = "Allreduce"
level = "node"
members = 8
times = [[8, 900]]
`))
	if err != nil {
		t.Fatal(err)
	}
	l := &m.Levels[0]
	for _, c := range []struct {
		bytes int64
		waits bool
		want  MessageCost
	}{
		{50, false, MessageCost{SenderCorePs: 20_000, SenderBusyPs: 22_000, TravelPs: 115_000, ReceiverCorePs: 35_000}},
		{101, true, MessageCost{SenderCorePs: 30_200, SenderBusyPs: 32_200, TravelPs: 346_750, ReceiverCorePs: 53_250}},
		{301, true, MessageCost{SenderCorePs: 70_200, SenderBusyPs: 72_200, TravelPs: 80_000, ReceiverCorePs: 520_000}}, // no more than is left but for latency
	} {
		if got := l.CostOfMessage(c.bytes, c.waits); got != c.want {
			t.Errorf("%d bytes: %+v, want %+v", c.bytes, got, c.want)
		}
	}
	if m.TracingCost != (TracingCost{40_000, 5_000}) {
		t.Errorf("%+v", m.TracingCost)
	}
	for _, c := range []struct {
		operation   meaning.CollectiveOperation
		members     int
		bytes, want int64
		known       bool
	}{
		{meaning.CollectiveAllreduce, 2, 12, 600_000, true}, {meaning.CollectiveAllreduce, 8, 12, 900_000, true}, {meaning.CollectiveAllreduce, 4, 12, 750_000, true},
		{meaning.CollectiveAllreduce, 9, 12, 0, false}, {meaning.CollectiveBarrier, 2, 0, 0, false},
	} {
		if got, ok := m.CollectiveTimePs(c.operation, l, c.members, c.bytes); got != c.want || ok != c.known {
			t.Errorf("%+v: %d ps, %v", c, got, ok)
		}
	}
}

// Contention makes the bytes slower of messages that many ranks of a node send, as far as there are so many.
func TestContention(t *testing.T) {
	m, err := ParseMachine("two.toml", []byte(strings.Replace(strings.Replace(two, "ranks = 2", "ranks = 4", 1), "[[0, 1000.5]]", "[[0, 1000], [1000, 2000]]\ncontention = 0.5", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for ranks, want := range map[int]int64{1: 2_000_000, 2: 2_500_000, 4: 3_500_000, 64: 3_500_000} {
		p := m.PlaceRanks(ranks, MappingBlock)
		if got := p.levels[1].EagerTimePs(1000); got != want {
			t.Errorf("%d ranks: %d ps, want %d", ranks, got, want)
		}
		if got := p.levels[0].EagerTimePs(100); got != 200_000 {
			t.Errorf("within the node: %d ps", got)
		}
	}
}

func TestPlace(t *testing.T) {
	m, err := ParseMachine("two.toml", []byte(two))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by   Mapping
		a, b int
		want string
	}{
		{MappingBlock, 0, 1, "node"}, {MappingBlock, 1, 2, "switch"}, {MappingBlock, 2, 3, "node"}, {MappingBlock, 4, 4, "node"},
		{MappingCyclic, 0, 1, "switch"}, {MappingCyclic, 0, 3, "node"}, {MappingCyclic, 1, 4, "node"}, {MappingCyclic, 2, 3, "switch"},
	} {
		p := m.PlaceRanks(5, c.by)
		if got := p.LevelBetween(c.a, c.b).Name; got != c.want {
			t.Errorf("%v: ranks %d and %d share a %s, want %s", c.by, c.a, c.b, got, c.want)
		}
		if got := p.WidestLevel([]int{c.a, c.b}).Name; got != c.want {
			t.Errorf("%v: ranks %d and %d are within a %s, want %s", c.by, c.a, c.b, got, c.want)
		}
	}
}

func TestShipped(t *testing.T) {
	if len(MachineNames()) < 3 {
		t.Error(MachineNames())
	}
	for _, name := range MachineNames() {
		m, err := LoadMachine(name)
		if err != nil {
			t.Error(err)
		} else if m.Name != name || m.FiguresSource == "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, err := LoadMachine("moon"); err == nil || !strings.HasPrefix(err.Error(), `no machine "moon": a file, or one of ethernet, ideal, `) {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "two.toml")
	if err := os.WriteFile(path, []byte(two), 0o644); err != nil {
		t.Fatal(err)
	}
	if m, err := LoadMachine(path); err != nil || m.Name != "pair" {
		t.Error(m, err)
	}
}

// What shipped machines say of bytes is no faster than what is published of their networks.
func TestPublished(t *testing.T) {
	for name, least := range map[string]float64{"infiniband": 0.04, "ethernet": 0.32, "now": 26.3} { // ns a byte
		m, err := LoadMachine(name)
		if err != nil {
			t.Fatal(err)
		}
		l := &m.Levels[len(m.Levels)-1]
		for _, table := range []SizeTimeTable{l.EagerTimes, l.RendezvousTimes} {
			for i := 1; i < len(table); i++ {
				a, b := table[i-1], table[i]
				if slope := float64(b.TimePs-a.TimePs) / 1000 / float64(b.Bytes-a.Bytes); slope < least {
					t.Errorf("%s: %.3f ns a byte from %d to %d bytes, the link has %v", name, slope, a.Bytes, b.Bytes, least)
				}
			}
		}
	}
	now, err := LoadMachine("now")
	if err != nil {
		t.Fatal(err)
	}
	if l := &now.Levels[0]; l.LatencyPs() != 5_000_000 || l.SendOverheadPs != 2_900_000 || l.MinGapPs != 5_800_000 {
		t.Errorf("LogGP's parameters: %+v", l)
	}
}

// Larger messages never take less time.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table SizeTimeTable
		row := SizeTime{}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row.Bytes += rapid.Int64Range(1, 1<<30).Draw(t, "bytes")
			row.TimePs += rapid.Int64Range(0, 1<<40).Draw(t, "ps")
			table = append(table, row)
		}
		a := rapid.Int64Range(0, 1<<50).Draw(t, "a")
		b := rapid.Int64Range(a, 1<<50).Draw(t, "b")
		if x, y := table.TimePs(a), table.TimePs(b); x < 0 || y < x {
			t.Fatalf("%d bytes take %d ps, %d take %d", a, x, b, y)
		}
		for _, r := range table {
			if got := table.TimePs(r.Bytes); got != r.TimePs {
				t.Fatalf("%d bytes take %d ps, the table has %d", r.Bytes, got, r.TimePs)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(two))
	for _, name := range MachineNames() {
		text, _ := MachineFileText(name)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseMachine("m.toml", text)
		if err != nil {
			return
		}
		p := m.PlaceRanks(7, MappingCyclic)
		for a := range 7 {
			l := p.LevelBetween(a, 3)
			if l.EagerTimePs(1<<20) < 0 || l.RendezvousTimePs(1<<20) < 0 || l.SenderBusyTimePs(1<<20, true) < 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}

func TestChange(t *testing.T) {
	m, err := ParseMachine("two.toml", []byte(two))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, m.WithChange(MachineChange{1, 1, 1, 1})); diff != "" {
		t.Error(diff)
	}
	x := m.WithChange(MachineChange{LatencyFactor: 0.5, ByteTimeFactor: 3, OverheadFactor: 2, ComputeFactor: 0.5})
	l := &x.Levels[0]
	// 30 of overhead and 70 of latency, and 1 for each byte; by rendezvous 168 of latency, and 2 for each byte.
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"latency", l.LatencyPs(), 35_000}, {"send overhead", l.SendOverheadPs, 20_000}, {"gap", l.MinGapPs, 10_000},
		{"eager", l.EagerTimePs(100), 60_000 + 35_000 + 300_000}, {"rendezvous", l.RendezvousTimePs(201), 60_000 + 84_000 + 1_206_000},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d ps", c.what, c.got, c.want)
		}
	}
	if x.CPUSpeedup != 3 || m.Levels[0].MinGapPs != 5_000 {
		t.Errorf("cores are %v times as fast; the machine itself: %+v", x.CPUSpeedup, m.Levels[0])
	}
}
