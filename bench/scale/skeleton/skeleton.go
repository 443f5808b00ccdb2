// Package skeleton holds the communication of well-known parallel programs:
// who calls what with which arguments, without the numerics in between. The
// programs are written from published descriptions of the algorithms; numbers
// of steps are small, since a loop costs the same however often it runs.
//
// What a program leaves to chance (the order of completions, data-dependent
// sizes) is drawn from a hash, the same in every run.
package skeleton

import "github.com/spoor-hpc/spoor/bench/scale/vmpi"

// A Program is the communication of one application, without its computation.
type Program struct {
	Name  string
	About string
	Run   func(v *vmpi.Rank)
	Fits  func(ranks int) bool // nil: any number of ranks

	// Limit is how many bytes the calls of a trace of 16,384 ranks may take; 0: no limit.
	Limit int
	// Grows says what part of the calls grows with the number of ranks; "": none.
	Grows string
}

// All lists the programs.
var All = []Program{
	{Name: "st2d", About: "2D 5-point stencil, open", Run: Stencil2D(false), Limit: 1024},
	{Name: "st2dp", About: "2D 5-point stencil, periodic", Run: Stencil2D(true), Limit: 1024},
	{Name: "st3d", About: "3D 7-point stencil, open", Run: Stencil3D(false), Limit: 1024},
	{Name: "st3dp", About: "3D 7-point stencil, periodic", Run: Stencil3D(true), Limit: 1024},
	{Name: "cg", About: "conjugate gradients on a 2D grid", Run: CG, Fits: powerOfTwo, Limit: 1024},
	{Name: "ft", About: "3D FFT, all-to-all in rows", Run: FT, Fits: powerOfTwo, Limit: 1024},
	{Name: "lu", About: "wavefronts over a 2D grid", Run: LU, Limit: 1024},
	{Name: "bfly", About: "butterfly and dissemination", Run: Butterfly, Limit: 1024},
	{Name: "cannon", About: "Cannon's matrix product", Run: Cannon, Fits: square, Limit: 1024},
	{Name: "bt", About: "multipartition, tags by cell", Run: BT, Fits: square, Limit: 4096,
		Grows: "a rank makes as many distinct calls as cells, √P"},
	{Name: "sp", About: "multipartition, sizes by cell", Run: SP, Fits: square, Limit: 8192,
		Grows: "a rank makes as many distinct calls as cells, √P"},
	{Name: "mg", About: "multigrid V-cycle", Run: MG, Fits: powerOfTwo, Limit: 4096,
		Grows: "levels on which ranks drop out: log P of them, each with roles of its own"},
	{Name: "nek", About: "Nek-like, root talks to everyone", Run: Nek, Limit: 4096},
	{Name: "is", About: "bucket sort, sizes by data", Run: IS, Grows: "P² counts that depend on the data"},
	{Name: "ocean", About: "solver and neighbours, rounds by data", Run: Ocean, Grows: "numbers of rounds of each pair depend on the data"},
	{Name: "amr", About: "neighbours that change", Run: AMR, Grows: "each rank has a random list of neighbours"},
	{Name: "random", About: "random sizes to random ranks", Run: Scatter, Grows: "each message has a partner and a size of its own"},
	{Name: "mw", About: "master and workers, wildcards", Run: MasterWorker, Grows: "the order of arrival is random"},
	{Name: "wany", About: "Waitany in random order", Run: Waitany, Grows: "the order of completion is random"},
	{Name: "tsome", About: "Testsome in random order", Run: Testsome, Grows: "the order of completion is random"},
}

// ByName returns the program with a name, and whether there is one.
func ByName(name string) (Program, bool) {
	for _, p := range All {
		if p.Name == name {
			return p, true
		}
	}
	return Program{}, false
}

func powerOfTwo(n int) bool { return n&(n-1) == 0 }

func square(n int) bool { return root(n)*root(n) == n }

// root returns the square root of n, rounded down.
func root(n int) int {
	r := 0
	for (r+1)*(r+1) <= n {
		r++
	}
	return r
}

// grid2 splits n into two factors, the first the smaller one.
func grid2(n int) (int, int) {
	a := root(n)
	for n%a != 0 {
		a--
	}
	return a, n / a
}

// grid3 splits n into three factors as equal as can be.
func grid3(n int) (x, y, z int) {
	x = 1
	for c := 1; c*c*c <= n; c++ {
		if n%c == 0 {
			x = c
		}
	}
	y, z = grid2(n / x)
	return x, y, z
}

// share returns the size of part i, from 0, if n things are divided among p parts as evenly as can be.
func share(n, p, i int) int64 {
	s := n / p
	if i < n%p {
		s++
	}
	return int64(s)
}

// Random returns a hash of the seeds, which serves as a pseudorandom number: the same for the same seeds.
func Random(seed ...int) uint64 {
	h := uint64(0x243f6a8885a308d3)
	for _, s := range seed {
		h = (h ^ uint64(s)) * 0x9fb21c651e98df25
		h ^= h >> 31
		h *= 0xd6e8feb86659fd93
		h ^= h >> 29
	}
	return h
}

// shuffled returns the numbers below n in a pseudorandom order given by a seed.
func shuffled(n int, seed ...int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(Random(append(seed, i)...) % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
	return list
}
