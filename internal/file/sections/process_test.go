package sections

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A file has the times of processes as precisely as ProcessRoundingErrorNs says, in whatever form, and no
// id of a process that finished.
func TestProcessSection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 7, 64, 65, 300, 2000}).Draw(t, "ranks")
		noise := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "noise"), 0))
		span := rapid.Int64Range(0, 1e15).Draw(t, "span")
		spread := rapid.SampledFrom([]int64{1, 1000, 1e9, 1e14}).Draw(t, "spread")
		later := rapid.SampledFrom([]int64{0, 1e6, 1e10}).Draw(t, "each host later")
		cyclic := rapid.Bool().Draw(t, "cyclic")
		told := rapid.SampledFrom([]string{"no", "yes", "wrong"}).Draw(t, "totals")
		var p Processes
		var calls column.Column
		var truth []model.Process
		totals := NewRankMPITimes(n)
		for rank := range n {
			host := rank / 64
			if cyclic {
				host = rank % 5
			}
			x := model.Process{
				Host: fmt.Sprint("node", host), PID: 42 + rank, EndState: "finished", Threads: 1 + noise.IntN(2), Calls: noise.Int64(),
				InitWallClockNs: 1e18 + int64(host)*later + noise.Int64N(spread), FirstThreadNs: span + noise.Int64N(spread),
			}
			if noise.IntN(50) == 0 {
				x.EndState, x.AllThreadsMPINs = "crashed", x.FirstThreadNs
			} else {
				x.AllThreadsMPINs = int64(noise.Float64() * float64(x.FirstThreadNs) * float64(x.Threads))
			}
			truth = append(truth, x)
			p.Append(RoundProcess(x, n))
			calls.Append(x.Calls)
			if told != "no" && noise.IntN(10) > 0 {
				totals.Ns[rank], totals.Known[rank] = float64(x.AllThreadsMPINs)*(0.995+0.01*noise.Float64()), true
				if told == "wrong" {
					totals.Ns[rank] *= 1.1
				}
			}
		}
		r := wire.NewReader(p.AppendSection(nil, totals), "process")
		q := DecodeProcessSection(r, n, calls, func() (RankMPITimes, error) { return totals, nil })
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		within := func(rank int, what string, got, want, by int64) {
			if d := got - want; max(d, -d) > by {
				t.Fatalf("rank %d: %s %d became %d, %d away, %d allowed", rank, what, want, got, max(d, -d), by)
			}
		}
		for rank, y := range q.All() {
			x := truth[rank]
			within(rank, "span", y.FirstThreadNs, x.FirstThreadNs, ProcessRoundingErrorNs(y.FirstThreadNs, n)+1)
			within(rank, "end", y.InitWallClockNs+y.FirstThreadNs, x.InitWallClockNs+x.FirstThreadNs, endUnit(x.FirstThreadNs, n)/2)
			if most := y.FirstThreadNs * int64(y.Threads); y.AllThreadsMPINs < most {
				within(rank, "time in MPI", y.AllThreadsMPINs, x.AllThreadsMPINs, ProcessRoundingErrorNs(y.AllThreadsMPINs, n)+1)
			} else {
				within(rank, "time in MPI", y.AllThreadsMPINs, x.AllThreadsMPINs, 2*ProcessRoundingErrorNs(most, n))
			}
			if (y.PID == 0) != (x.EndState == "finished") {
				t.Fatalf("rank %d, %s: process id %d", rank, x.EndState, y.PID)
			}
			y.InitWallClockNs, y.FirstThreadNs, y.AllThreadsMPINs, y.PID = x.InitWallClockNs, x.FirstThreadNs, x.AllThreadsMPINs, x.PID
			if !reflect.DeepEqual(x, y) {
				t.Fatalf("rank %d: %+v became %+v", rank, x, y)
			}
		}
	})
}

func numbered(list []string) []byte {
	return wire.AppendEncoded(nil, func(c *wire.Coder) { codeNames(c, &list, 0) })
}

func namesIn(r *wire.Reader, limit int) (list []string) {
	codeNames(&wire.Coder{Reader: r}, &list, limit)
	return list
}

// Names of hosts come back, and those that are numbered take a few bytes however many
// they are.
func TestNumberedHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-c]?[0-9]{0,3}(-[0-9]{1,17})?[x.]?`)
		var list []string
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "run") {
				from, step := rapid.IntRange(0, 200).Draw(t, "from"), rapid.IntRange(-3, 3).Draw(t, "step")
				form := rapid.SampledFrom([]string{"node%04d", "n%d.rack7", "r1-n%02d-ib0", "%d"}).Draw(t, "form")
				for i := range rapid.IntRange(1, 20).Draw(t, "length") {
					list = append(list, fmt.Sprintf(form, max(from+i*step, 0)))
				}
			} else {
				list = append(list, name.Draw(t, "name"))
			}
		}
		r := wire.NewReader(numbered(list), "names")
		got := namesIn(r, len(list))
		if err := r.Finish(); err != nil || !slices.Equal(got, list) {
			t.Fatalf("%q became %q: %v", list, got, err)
		}
	})
	for _, form := range []string{"node%04d", "r2-n%d.site.org", "c%03d-07"} {
		var list []string
		for i := range 256 {
			list = append(list, fmt.Sprintf(form, i))
		}
		if b := numbered(list); len(b) > 25 {
			t.Errorf("%s: %d bytes", form, len(b))
		}
	}
}

// What says that there are more names than ranks is refused before they are made.
func TestNumberedHostsBounds(t *testing.T) {
	b := wire.AppendString([]byte{1}, "node0")
	b = wire.AppendVarint(wire.AppendUvarint(wire.AppendUvarint(b, 1<<22), 4), 1)
	for _, limit := range []int{100, model.MaxRanks} {
		r := wire.NewReader(b, "names")
		if list := namesIn(r, limit); r.Err() == nil || len(list) > 1 {
			t.Errorf("%d names", len(list))
		}
	}
	var many []string
	for i := range 20_000 {
		many = append(many, fmt.Sprintf("node%05d", i))
	}
	r := wire.NewReader(numbered(many), "names")
	if got := namesIn(r, model.MaxRanks); r.Finish() != nil || !slices.Equal(got, many) {
		t.Errorf("%d names became %d: %v", len(many), len(got), r.Err())
	}
}

// The table of many ranks is small where launchers number hosts and start them one
// after the other, however long each process takes for it, and whichever hosts neighbours have.
func TestManyProcesses(t *testing.T) {
	const ranks, hosts = 16384, 256
	for name, host := range map[string]func(rank int) int{
		"blocks": func(rank int) int { return rank / (ranks / hosts) },
		"cyclic": func(rank int) int { return rank % hosts },
	} {
		for _, run := range []int64{5e9, 60e9, 3600e9} {
			var p Processes
			totals := NewRankMPITimes(ranks)
			noise := rand.New(rand.NewPCG(1, 2))
			for rank := range ranks {
				start := int64(1_700_000_000_000_000_000) + int64(host(rank))*20_000_000 + noise.Int64N(50_000_000)
				end := int64(1_700_000_000_000_000_000) + run + 6e9 + noise.Int64N(1e6)
				in := int64(float64(end-start) * (0.1 + 0.2*noise.Float64()))
				totals.Ns[rank], totals.Known[rank] = float64(in), true
				x := model.Process{Host: fmt.Sprintf("node%04d", host(rank)), PID: 4000 + rank, EndState: "finished", Threads: 1, InitWallClockNs: start, FirstThreadNs: end - start, AllThreadsMPINs: in}
				p.Append(RoundProcess(x, ranks))
			}
			stored, _ := container.PackSection(container.SectionProcess, p.AppendSection(nil, totals))
			if t.Logf("%s, %d s: %d bytes", name, run/1e9, len(stored)); len(stored) > 1024 {
				t.Errorf("%s, %d s: %d bytes", name, run/1e9, len(stored))
			}
		}
	}
}
