package bysite

import (
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// functions are those of the tests, by id.
func functions(t testing.TB, names ...string) map[uint16]*model.Function {
	schema := make(map[uint16]*model.Function)
	for _, name := range names {
		call, ok := mpi.Lookup(name)
		if !ok {
			t.Fatalf("no call %s", name)
		}
		f := sections.FunctionOf(call)
		schema[f.ID] = &f
	}
	return schema
}

// threadOf is a thread whose sites are all in one loop, which any order of calls fits.
func threadOf(schema map[uint16]*model.Function, calls [][]signature.Signature) Thread {
	var t Thread
	place := make(map[[2]uint64]int)
	for _, list := range calls {
		for i := range list {
			key := [2]uint64{uint64(list[i].Call), list[i].Site}
			if _, known := place[key]; !known {
				place[key] = len(t.Sites)
				t.Sites = append(t.Sites, Site{schema[list[i].Call], []int{int(list[i].Site)}})
			}
		}
	}
	if len(t.Sites) > 0 {
		t.Loops = []Span{{0, len(t.Sites) - 1}}
	}
	t.Calls = func(rank int) iter.Seq2[int, *signature.Signature] {
		if calls[rank] == nil {
			return nil
		}
		return func(yield func(int, *signature.Signature) bool) {
			for i := range calls[rank] {
				if s := &calls[rank][i]; !yield(place[[2]uint64{uint64(s.Call), s.Site}], s) {
					return
				}
			}
		}
	}
	return t
}

func send(t testing.TB, site, dest, count int64) signature.Signature {
	call, _ := mpi.Lookup("MPI_Send")
	return signature.Signature{Call: call.ID, Site: uint64(site), Vals: []int64{0, 257, 0, count, 0x209, dest, 7, 257}}
}

// orderOf is that of so many sites without stacks, every two of one place.
func orderOf(sites int) *sections.SiteOrder {
	place := make([]int, sites)
	for i := range place {
		place[i] = i &^ 1
	}
	return sections.InOrder(make([]int, sites), place)
}

func decoded(b []byte, ranks int, schema map[uint16]*model.Function) ([]*Rank, error) {
	w := wire.NewReader(b, "data")
	list := Decode(w, ranks, schema, orderOf(50))
	return list, w.Done()
}

// same compares the calls of all ranks.
func same(t interface{ Fatalf(string, ...any) }, got []*Rank, calls [][]signature.Signature) {
	for rank, k := range got {
		var list []signature.Signature
		for _, s := range k.Streams {
			for _, n := range s {
				list = append(list, k.Distinct[n])
			}
		}
		if !reflect.DeepEqual(list, calls[rank]) {
			t.Fatalf("rank %d: %v, %v expected", rank, list, calls[rank])
		}
	}
}

// Calls of random values come back one by one.
func TestRoundTrip(t *testing.T) {
	schema := functions(t, "MPI_Send")
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Int64Range(0, 3)
		calls := make([][]signature.Signature, rapid.IntRange(1, 3).Draw(rt, "ranks"))
		for rank := range calls {
			for range rapid.IntRange(0, 12).Draw(rt, "calls") {
				calls[rank] = append(calls[rank], send(t, 1+number.Draw(rt, "site"), int64(rank)+number.Draw(rt, "dest"), rapid.Int64().Draw(rt, "count")))
			}
		}
		b, err := Encode([]Thread{threadOf(schema, calls)}, len(calls), orderOf(50))
		if err != nil {
			rt.Fatal(err)
		}
		got, err := decoded(b, len(calls), schema)
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, got, calls)
	})
}

// Sites whose calls are as those of another one with the function, and are made when the one before them is, take a few bytes each.
func TestAlike(t *testing.T) {
	schema := functions(t, "MPI_Send")
	size := func(sites int64) int {
		calls := make([][]signature.Signature, 2)
		for rank := range calls {
			for round := range int64(50) {
				for site := range sites {
					if round*round%7 > 2 {
						calls[rank] = append(calls[rank], send(t, 1+site, int64(rank)+1, 1000+site%3))
					}
				}
				calls[rank] = append(calls[rank], send(t, 1+sites, int64(rank)+1, 5))
			}
		}
		b, err := Encode([]Thread{threadOf(schema, calls)}, len(calls), orderOf(50))
		if err != nil {
			t.Fatal(err)
		}
		got, err := decoded(b, len(calls), schema)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, calls)
		return len(b)
	}
	// Each has its number, how many, the function, when, and whose formulas.
	if few, many := size(6), size(36); many > few+30*5 {
		t.Errorf("six sites take %d bytes, thirty-six %d", few, many)
	}
}

// A column of one number, one of the rank, one that counts rounds, one like that and one that repeats keep nothing, or one round.
func TestFormulas(t *testing.T) {
	schema := functions(t, "MPI_Send")
	calls := make([][]signature.Signature, 4)
	for rank := range calls {
		for round := range int64(9) {
			s := send(t, 1, int64(rank)+1, 100-round)
			s.Vals[2], s.Vals[6] = 8*s.Vals[3], []int64{5, 3, 8}[round%3]
			calls[rank] = append(calls[rank], s)
		}
	}
	thread := threadOf(schema, calls)
	tree, err := treeOf(&thread, len(calls), false, newBudget())
	if err != nil {
		t.Fatal(err)
	}
	f := &fitter{t: tree}
	var ways []int
	for n := range tree.nodes {
		if tree.nodes[n].kind == value {
			ways = append(ways, f.fit(n).way)
		}
	}
	// Return code, segment, offset, count, datatype, destination, tag, communicator.
	if want := []int{constant, constant, counted, counted, constant, ofRank, looked, constant}; !slices.Equal(ways, want) {
		t.Errorf("ways %v, %v expected", ways, want)
	}
}

// Lists come back in each coding.
func TestKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3))
		lists := rapid.SliceOfN(rapid.SliceOfN(number, 0, 5), 1, 9).Draw(t, "lists")
		var sizes []int
		for _, l := range lists {
			sizes = append(sizes, len(l))
		}
		ways := [][]byte{keep(lists)}
		for coding := range codings {
			ways = append(ways, keepAs(lists, coding, false))
			if coding != formed {
				ways = append(ways, keepAs(lists, coding, true))
			}
		}
		for _, b := range ways {
			r := wire.NewReader(b, "lists")
			got := readKept(r, sizes, newBudget())
			if err := r.Done(); err != nil {
				t.Fatal(err)
			}
			for rank := range lists {
				if !slices.Equal(got[rank], lists[rank]) {
					t.Fatalf("coding %d: %v, %v expected", b[0], got, lists)
				}
			}
		}
	})
}

// What no reader would take isn't coded, and what no writer made is refused, however few bytes say how much.
func TestBounds(t *testing.T) {
	schema := functions(t, "MPI_Send", "MPI_Waitall")
	one := [][]signature.Signature{{send(t, 1, 0, 1)}}
	thread := threadOf(schema, one)
	thread.Calls = func(int) iter.Seq2[int, *signature.Signature] {
		return func(yield func(int, *signature.Signature) bool) {
			for yield(0, &one[0][0]) {
			}
		}
	}
	few := func() *budget { return &budget{10, 1000, 1000} }
	if _, err := treeOf(&thread, 1, false, few()); !errors.Is(err, errBudget) {
		t.Errorf("endless calls: %v", err)
	}
	thread = threadOf(schema, one)
	thread.Loops = nil
	thread.Calls = func(int) iter.Seq2[int, *signature.Signature] {
		return func(yield func(int, *signature.Signature) bool) { _ = yield(0, &one[0][0]) && yield(0, &one[0][0]) }
	}
	if _, err := Encode([]Thread{thread}, 1, orderOf(50)); !errors.Is(err, ErrNotCoded) {
		t.Errorf("a call that the shape doesn't have: %v", err)
	}
	wait, _ := mpi.Lookup("MPI_Waitall")
	for name, formulas := range map[string][]formula{
		"rounds":   {{way: constant, a: 1}, {way: constant, a: 1 << 40}},
		"negative": {{way: constant, a: 1}, {way: constant, a: -1}},
		"calls":    {{way: constant, a: 1}, {way: constant, a: MostCalls + 1}, {way: constant, a: 1}},
		"twice":    {{way: constant, a: 1}, {way: constant, a: 1}, {way: constant, a: 2}},
		"lists":    {{way: constant, a: 1}, {way: constant, a: 1 << 12}, {way: constant, a: 1}, {way: constant}, {way: constant, a: 1 << 20}, {way: constant, a: 1 << 20}},
		"like":     {{way: constant, a: 1}, {way: like, of: -3}},
		"around":   {{way: constant, a: 1}, {way: constant, a: 1}, {way: constant, a: 1}, {way: counted, of: -2}},
		"together": {{way: constant, a: 1}, {way: constant, a: 1}, {way: together}},
		"kept":     {{way: constant, a: 1}, {way: constant, a: 1}, {way: kept, same: make([]bool, 5)}},
	} {
		tree, err := newTree(1, []Site{{schema[wait.ID], []int{1}}}, []Span{{0, 0}}, newBudget())
		if err != nil {
			t.Fatal(err)
		}
		of := make([]formula, len(tree.nodes))
		copy(of, formulas)
		shape := tree.appendFormulas(tree.append([]byte{1}, orderOf(50)), of)
		b := append(wire.AppendUvarint([]byte{0}, uint64(len(shape))), shape...)
		if _, err := decoded(b, 1, schema); err == nil || !strings.Contains(err.Error(), "at byte") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecode: what is decoded is within bounds, whatever the bytes say.
func FuzzDecode(f *testing.F) {
	schema := functions(f, "MPI_Send", "MPI_Waitall", "MPI_Irecv", "MPI_Alltoallv", "MPI_Comm_dup")
	calls := make([][]signature.Signature, 3)
	wait, _ := mpi.Lookup("MPI_Waitall")
	for rank := range calls {
		for round := range int64(4) {
			calls[rank] = append(calls[rank], send(f, 1, int64(rank), round), signature.Signature{Call: wait.ID, Site: 3, Vals: []int64{0, 2, 2, 4, 2, 2, 1, round, 7, 4, 0, 4, 0}})
		}
	}
	b, err := Encode([]Thread{threadOf(schema, calls)}, 3, orderOf(50))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := decoded(data, 3, schema)
		if err != nil {
			return
		}
		sum := 0
		for _, k := range list {
			for _, s := range k.Streams {
				sum += len(s)
			}
		}
		if len(list) != 0 && len(list) != 3 || sum > MostCalls {
			t.Fatalf("%d ranks, %d calls", len(list), sum)
		}
		if len(list) > 0 {
			Classes([][]int{{0, 1}, {2}}, func(rank int) *Rank { return list[rank] })
		}
	})
}
