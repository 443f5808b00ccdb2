package grammar

import (
	"math/rand/v2"
	"testing"
)

// Streams of terminals, each a function that fills a buffer with the shape of
// some program.
var streams = []struct {
	name string
	make func(seq []uint32)
}{
	{"run", func(seq []uint32) {}},
	{"loop10", cycle(10)},
	{"cycle64", cycle(64)},
	{"nested", func(seq []uint32) {
		each(seq, func(emit func(uint32)) {
			for range 20 {
				for range 5 {
					emit(0)
					emit(1)
				}
				emit(2)
				for range 3 {
					emit(3)
					emit(4)
					emit(4)
				}
			}
			emit(5)
		})
	}},
	{"lu", func(seq []uint32) {
		// A wavefront code: per time step two sweeps over the planes, then
		// exchanges, and every so often a norm.
		step := 0
		each(seq, func(emit func(uint32)) {
			for sweep := range uint32(2) {
				for range 31 {
					for c := range uint32(4) {
						emit(10*sweep + c)
					}
				}
			}
			for c := range uint32(12) {
				emit(30 + c)
			}
			if step++; step%50 == 0 {
				emit(50)
			}
		})
	}},
	{"branch13", func(seq []uint32) {
		// A loop of ten calls with an extra one now and then.
		rng := rand.New(rand.NewPCG(1, 2))
		each(seq, func(emit func(uint32)) {
			for c := range uint32(10) {
				emit(c)
			}
			if rng.IntN(13) == 0 {
				emit(10)
			}
		})
	}},
	{"trips", func(seq []uint32) {
		// An inner loop with a count of its own each time.
		rng := rand.New(rand.NewPCG(1, 2))
		each(seq, func(emit func(uint32)) {
			for range 1 + rng.IntN(6) {
				emit(0)
				emit(1)
				emit(2)
			}
			emit(3)
		})
	}},
	{"random64", random(64)},
	{"random2", random(2)},
	{"phrases", func(seq []uint32) { // one of 4,096 phrases of nine calls each at random
		rng := rand.New(rand.NewPCG(1, 2))
		each(seq, func(emit func(uint32)) {
			from := 9 * uint32(rng.IntN(4096))
			for c := range uint32(9) {
				emit(from + c)
			}
		})
	}},
	{"distinct", func(seq []uint32) { // six calls on a new object each time, with a known one between
		next := uint32(1)
		each(seq, func(emit func(uint32)) {
			for range 6 {
				emit(next)
				next++
			}
			emit(0)
		})
	}},
}

func cycle(n int) func([]uint32) {
	return func(seq []uint32) {
		for i := range seq {
			seq[i] = uint32(i % n)
		}
	}
}

func random(n int) func([]uint32) {
	return func(seq []uint32) {
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range seq {
			seq[i] = uint32(rng.IntN(n))
		}
	}
}

// each calls body until seq is full.
func each(seq []uint32, body func(emit func(uint32))) {
	n := 0
	for n < len(seq) {
		body(func(s uint32) {
			if n < len(seq) {
				seq[n] = s
				n++
			}
		})
	}
}

const streamLen = 1 << 20

// BenchmarkAppend reports the time of one Append, over streams of a million;
// plain is without following.
func BenchmarkAppend(b *testing.B) {
	for _, s := range streams {
		seq := make([]uint32, streamLen)
		s.make(seq)
		for _, plain := range []bool{false, true} {
			name := s.name
			if plain {
				name += "/plain"
			} else {
				name += "/follow"
			}
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				var g *Builder
				for i := range b.N {
					if i%streamLen == 0 {
						g = NewBuilder()
						g.plain = plain
					}
					g.Append(seq[i%streamLen])
				}
				b.ReportMetric(float64(symbols(g.Grammar())), "symbols")
				b.ReportMetric(float64(g.HeldBytes()), "bytes")
			})
		}
	}
}

// BenchmarkNext reports the time of reading one terminal.
func BenchmarkNext(b *testing.B) {
	for _, s := range streams {
		seq := make([]uint32, streamLen)
		s.make(seq)
		g := build(seq).Grammar()
		b.Run(s.name, func(b *testing.B) {
			c := g.Cursor()
			for range b.N {
				if _, ok := c.Next(); !ok {
					c.Seek(0)
				}
			}
		})
	}
}

// BenchmarkWrite reports what writing a grammar costs, per symbol.
func BenchmarkWrite(b *testing.B) {
	for _, s := range streams {
		seq := make([]uint32, streamLen)
		s.make(seq)
		g := build(seq).Grammar()
		n := symbols(g)
		b.Run(s.name, func(b *testing.B) {
			var data []byte
			for range b.N {
				data = g.AppendBinary(data[:0])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/symbol")
			b.ReportMetric(float64(len(data)), "bytes")
		})
	}
}

// BenchmarkCheckpoint reports what a snapshot and its return cost, per symbol
// of the grammar, for a large grammar.
func BenchmarkCheckpoint(b *testing.B) {
	seq := make([]uint32, streamLen)
	random(64)(seq)
	builder := build(seq)
	g := builder.Grammar()
	src := g.AppendBinary(nil)
	for _, op := range []struct {
		name string
		do   func() error
	}{
		{"Grammar", func() error { builder.Grammar(); return nil }},
		{"Restore", func() error { ContinueGrammar(g); return nil }},
		{"AppendBinary", func() error { src = g.AppendBinary(src[:0]); return nil }},
		{"Decode", func() error { _, _, err := Decode(src); return err }},
	} {
		b.Run(op.name, func(b *testing.B) {
			for range b.N {
				if err := op.do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(symbols(g)), "ns/symbol")
		})
	}
}
