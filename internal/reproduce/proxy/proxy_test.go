package proxy

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

var update = flag.Bool("update", false, "rewrite golden files")

// record makes a trace of virtual ranks.
func record(t *testing.T, ranks int, program func(r *tracktest.Recorder)) *trace.Reader {
	t.Helper()
	return mergetest.Open(t, tracktest.RunAll(ranks, program), map[string]string{trace.MetaCommand: "./app */ \\", trace.MetaMPIFlavour: "mpich"})
}

func generate(t *testing.T, r *trace.Reader, o Options) *Program {
	t.Helper()
	p, err := GenerateProgram(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// halo is a row of ranks, the ends of which talk to MPI_PROC_NULL. They have a
// field of rows, a duplicate of the world, and in each step another buffer.
func halo(r *tracktest.Recorder) { steps(100)(r) }

func steps(n int) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) { haloSteps(r, n) }
}

func haloSteps(r *tracktest.Recorder, steps int) {
	const (
		procNull     = -3
		double       = 0x214
		field, ghost = 0<<8 | 1, 1<<8 | 1
		stack        = 0<<8 | 4
		row          = 1024
		own          = 1024 // the communicator
	)
	left, right := int64(r.Rank-1), int64(r.Rank+1)
	if r.Rank == 0 {
		left = procNull
	}
	if r.Rank == r.Size-1 {
		right = procNull
	}
	rows := int64(100)
	if r.Rank < 3 {
		rows++
	}
	r.Begin()
	r.Call("MPI_Comm_dup", 3, tracktest.World, own, 0, 0, int64(r.Rank), int64(r.Size), -1, 0, 0)
	for i := range steps {
		r.AllocEvent(0, false, ghost, 8*row)
		r.Call("MPI_Irecv", 5, ghost, 0, row, double, left, 7, own, 2)
		if i == 0 {
			r.AllocEvent(0, false, field, uint64(8*row*rows))
		}
		r.Call("MPI_Isend", 6, field, 8*row*(rows-1), row, double, right, 7, own, 2)
		r.Call("MPI_Waitall", 7, 2, 2, 4, 2, -5)
		r.AllocEvent(0, true, ghost, 0)
		r.Call("MPI_Allreduce", 9, stack, 80, stack, 88, 1, double, 0x21, own)
	}
	r.AllocEvent(0, true, field, 0)
	r.Call("MPI_Comm_free", 11, own)
	r.End()
}

func TestProgram(t *testing.T) {
	p := generate(t, record(t, 8, halo), Options{})
	golden := filepath.Join("testdata", "halo.c") // docs/proxy.md shows a part of it
	got := p.Files["proxy.c"]
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the program is\n%s", got)
	}
}

// docs/proxy.md shows what the golden file has.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "proxy.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("testdata", "halo.c"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(text), "```c\n")
	shown, _, end := strings.Cut(shown, "```")
	if !ok || !end || !strings.Contains(string(program), shown) {
		t.Error("the program in docs/proxy.md is not in testdata/halo.c")
	}
}

// The program of more ranks and of more iterations has no more lines.
func TestSize(t *testing.T) {
	small := generate(t, record(t, 8, halo), Options{})
	if large := generate(t, record(t, 256, halo), Options{}); large.Lines != small.Lines {
		t.Errorf("%d lines on 8 ranks, %d on 256", small.Lines, large.Lines)
	}
	if large := generate(t, record(t, 8, steps(5000)), Options{}); large.Lines != small.Lines {
		t.Errorf("%d lines, %d of a longer run", small.Lines, large.Lines)
	}
}

func TestRefusal(t *testing.T) {
	r := record(t, 2, func(r *tracktest.Recorder) {
		r.Allreduce(1, 1)
		r.Call("MPI_Barrier", 2, trace.UnknownHandle)
		r.Allreduce(3, 1)
	})
	_, err := GenerateProgram(r, Options{})
	var refused *RefusedError
	if !errors.As(err, &refused) || len(refused.Obstacles) != 1 || refused.Obstacles[0].Calls != 2 || refused.Obstacles[0].Function != "MPI_Barrier" {
		t.Fatalf("%v", err)
	}
	p := generate(t, r, Options{AllowPartial: true})
	text := string(p.Files["proxy.c"])
	if strings.Count(text, "MPI_Allreduce(") != 2 || strings.Contains(text, "DO(0, MPI_Barrier") || len(p.LeftOut) != 1 {
		t.Errorf("left out %v:\n%s", p.LeftOut, text)
	}
}

// evaluate finds what an expression is on a rank, for the few operators that
// generated ones have.
func TestExpressions(t *testing.T) {
	const p = 16
	all := make([]int, p)
	for i := range all {
		all[i] = i
	}
	column := func(f func(r int64) int64) []int64 {
		vals := make([]int64, p)
		for i := range vals {
			vals[i] = f(int64(i))
		}
		return vals
	}
	random := []int64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}
	tests := []struct {
		kind mpi.Kind
		f    func(r int64) int64
		want string
	}{
		{mpi.KindRank, func(r int64) int64 { return 3 }, "3"},
		{mpi.KindRank, func(r int64) int64 { return -3 }, "MPI_PROC_NULL"},
		{mpi.KindRank, func(r int64) int64 { return r }, "rank"},
		{mpi.KindCount, func(r int64) int64 { return r + 100 }, "rank + 100"},
		{mpi.KindCount, func(r int64) int64 { return 1000 - 8*r }, "-8 * rank + 1000"},
		{mpi.KindRank, func(r int64) int64 { return (r + 1) % p }, "(rank + 1) % ranks"},
		{mpi.KindRank, func(r int64) int64 { return (r + p - 1) % p }, "(rank + 15) % ranks"},
		{mpi.KindRank, func(r int64) int64 { return r ^ 4 }, "(rank ^ 4)"},
		{mpi.KindSplitColor, func(r int64) int64 { return r % 4 }, "rank % 4"},
		{mpi.KindSplitColor, func(r int64) int64 { return r / 4 }, "rank / 4"},
		{mpi.KindRank, func(r int64) int64 { return r%4*4 + r/4 }, "4 * (rank % 4) + rank / 4"},
		{mpi.KindRank, func(r int64) int64 {
			if r == 0 {
				return -3
			}
			return r - 1
		}, "(rank == 0 ? MPI_PROC_NULL : rank - 1)"},
		{mpi.KindRank, func(r int64) int64 {
			if r%4 == 3 {
				return -3
			}
			return r + 1
		}, "(rank % 4 == 3 ? MPI_PROC_NULL : rank + 1)"},
		{mpi.KindSplitColor, func(r int64) int64 {
			if r < 5 {
				return -32766
			}
			return 1
		}, "(rank < 5 ? MPI_UNDEFINED : 1)"},
		{mpi.KindCount, func(r int64) int64 {
			if r < 6 {
				return 10
			}
			return 12
		}, "(rank < 6 ? 10 : 12)"},
		{mpi.KindTag, func(r int64) int64 { return (r+1)%p*1000 + 7 }, "1000 * ((rank + 1) % ranks) + 7"},
		{mpi.KindTag, func(r int64) int64 { return (r + p - 1) % p * 1000 }, "1000 * ((rank + 15) % ranks)"},
		{mpi.KindOffset, func(r int64) int64 { return r << 30 }, "INT64_C(1073741824) * (int64_t)rank"},
		{mpi.KindCount, func(r int64) int64 { return 600 * (4 + (19-r)/16) }, "600 * (rank < 4 ? 5 : 4)"},
		{mpi.KindOffset, func(r int64) int64 { return 1 << 20 * (4000 + (19-r)/16) }, "INT64_C(1048576) * ((int64_t)rank < 4 ? 4001 : 4000)"},
		{mpi.KindRank, func(r int64) int64 { return r/4*4 + (r+1)%4 }, "rank / 4 * 4 + mod(rank + 1, 4)"},
		{mpi.KindCount, func(r int64) int64 { return []int64{5, 9, 2, 7}[r%4] }, "table0[member % 4]"},
		{mpi.KindCount, func(r int64) int64 { return []int64{50, 90, 20, 70}[r/4] }, "table1[member / 4]"},
		{mpi.KindCount, func(r int64) int64 { return random[r] }, "table2[member]"},
		{mpi.KindOffset, func(r int64) int64 { return 8*random[r] + 4096 }, "(8 * table2[member] + 4096)"},
		{mpi.KindOffset, func(r int64) int64 { return 4096 - random[r] }, "(-1 * table2[member] + 4096)"},
		{mpi.KindOffset, func(r int64) int64 { return random[r] << 30 }, "(1073741824 * (int64_t)table2[member])"},
		{mpi.KindRank, func(r int64) int64 { return random[r] - 4 }, "table3[member]"},
	}
	g := &generator{r: record(t, p, func(r *tracktest.Recorder) { r.Allreduce(1, 1) }), tableOf: make(map[string]string)}
	f := newFitter(g, all)
	for _, x := range tests {
		if got := f.expr(x.kind, column(x.f)); got != x.want {
			t.Errorf("%s %v: %s, expected %s", x.kind, column(x.f), got, x.want)
		}
	}
	if len(g.tables) != 4 || g.tables[0] != "static const int table0[] = {5, 9, 2, 7};" {
		t.Errorf("tables: %q", g.tables)
	}
}

func TestQuote(t *testing.T) {
	if got := quote("a\"\\?\n\x01é"); got != `"a\"\\\077\n\001\303\251"` {
		t.Error(got)
	}
}

// Bytes that are no signature must give an error, not more.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 8, 1, 2, 3})
	r := trace.Function{Name: "MPI_Waitall", Params: []trace.ParamDef{
		{Name: "a", Type: trace.TypeRequest, Dims: 1, HasIn: true}, {Name: "s", Type: trace.TypeStatus, Dims: 2, Dir: trace.DirOut, HasOut: true},
		{Name: "b", Type: trace.TypeAddress, HasIn: true}, {Name: "h", Type: trace.TypeHandle, HasIn: true, HasOut: true},
	}}
	f.Fuzz(func(t *testing.T, b []byte) {
		vals := make([]int64, len(b))
		for i, x := range b {
			vals[i] = int64(int8(x))
		}
		c, _, err := decode(&r, vals)
		if err == nil && c == nil {
			t.Error("neither call nor error")
		}
	})
}

// Ranks allocate blocks of sizes that follow no rule, some of them on some rounds
// only: there is a program all the same, always the same, and every table in it is used.
func TestMemoryThatVaries(t *testing.T) {
	r := record(t, 12, func(r *tracktest.Recorder) {
		for i := range 60 {
			size := uint64(1024 * (1 + r.Rank*r.Rank%7))
			if i%3 == r.Rank%3 {
				size *= 5
			}
			r.AllocEvent(0, false, 1<<8|1, size)
			r.Call("MPI_Bcast", 1, 1<<8|1, 0, 4, tracktest.IntType, 0, tracktest.World)
			if i%4 != 3 {
				r.AllocEvent(0, true, 1<<8|1, 0)
			}
			r.Allreduce(2, 1)
		}
		if r.Rank%2 == 0 {
			r.AllocEvent(0, false, 5<<8|1, uint64(4096+r.Rank*r.Rank%5))
			r.AllocEvent(0, true, 5<<8|1, 0)
		}
		r.Allreduce(3, 1)
	})
	first := string(generate(t, r, Options{}).Files["proxy.c"])
	for range 5 {
		if again := string(generate(t, r, Options{}).Files["proxy.c"]); again != first {
			t.Fatalf("another program:\n%s\n%s", first, again)
		}
	}
	for i := range 100 {
		name := fmt.Sprintf("table%d[", i)
		if n := strings.Count(first, name); n == 1 {
			t.Errorf("%s is not used:\n%s", name, first)
		}
	}
}

// What a program did not ask for, its proxy doesn't either.
func TestNull(t *testing.T) {
	const ignored, null = -5, -1
	text := string(generate(t, record(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		heap := int64(1<<8 | 1)
		// cvar_index, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind, scope
		r.Call("MPI_T_cvar_get_info", 3, 7, 0, 0, 34, 0, tracktest.IntType, 0, 0, 0, 0, 0, 0)
		r.Call("MPI_T_cvar_get_info", 4, 8, r.String("name"), 100, 5, 0, tracktest.IntType, 0, r.String("it"), 50, 3, 0, 0)
		r.Call("MPI_Waitall", 5, 0, null, null)
		r.Call("MPI_Waitall", 6, 0, null, 0)
		r.Call("MPI_Iprobe", 7, 0, 9, tracktest.World, 0, 0)
		for flag := range int64(2) { // the same place: where there was a message, the program asked for it
			r.Call("MPI_Iprobe", 8, append([]int64{0, 9, tracktest.World, flag}, [][]int64{{0}, {1, 0, 9, 4, 0}}[flag]...)...)
		}
		r.Call("MPI_Recv", 9, heap, 0, 1, tracktest.IntType, 0, 9, tracktest.World, 1, 0, 9, 4, 0)
		r.Call("MPI_Recv", 10, heap, 0, 1, tracktest.IntType, 0, 9, tracktest.World, 2, 0, 9, 4, 0)
		r.End()
	}), Options{}).Files["proxy.c"])
	for _, want := range []string{
		"MPI_T_cvar_get_info(7, NULL, A32(0), NULL, ", ", NULL, NULL, NULL, NULL));", "MPI_T_cvar_get_info(8, text(8192), A32(100), ",
		"MPI_Waitall(0, NULL, NULL)", "MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE)",
		"MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE)", "MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, &status)",
		"9, MPI_COMM_WORLD, &status)", "9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "MPI_STATUS_IGNORE"); n != 2 {
		t.Errorf("%d times MPI_STATUS_IGNORE, want 2", n)
	}
}
