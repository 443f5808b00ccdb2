package capture

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/timing"
)

// Each loop is one iteration of a program; calls is how many MPI calls it makes.
var loops = []struct {
	name  string
	calls int
	body  func(s *synth, i int)
}{
	{"CommRank", 1, func(s *synth, i int) { s.commRank() }},
	{"Iprobe", 1, func(s *synth, i int) { s.iprobe() }},
	{"IsendIrecvWaitall", 3, func(s *synth, i int) {
		s.irecv(0x98000000+uint64(i%4), 0x5000)
		s.isend(shared, 0x5004)
		s.waitall(0x5000, 0x98000000+uint64(i%4), shared)
	}},
	{"Allreduce", 1, func(s *synth, i int) { s.allreduce() }},
	{"Send64Tags", 1, func(s *synth, i int) {
		s.enter("MPI_Send", cat(buffer(stackBuf), 4, typeInt, 1, i%64, commWorld)...)
		s.leave("MPI_Send")
	}},
	{"Send64Random", 1, func(s *synth, i int) {
		x := uint32(i) * 0x9e3779b1
		x = (x ^ x>>15) * 0x85ebca6b
		s.enter("MPI_Send", cat(buffer(stackBuf), 4, typeInt, 1, int(x>>20&63), commWorld)...)
		s.leave("MPI_Send")
	}},
	{"CounterTag", 3, func(s *synth, i int) {
		s.enter("MPI_Irecv", cat(buffer(stackBuf+64), 4, typeInt, 1, i, commWorld)...)
		s.leave("MPI_Irecv", 0x98000000, 0x5000)
		s.send(i, stackBuf)
		s.enter("MPI_Wait", 0x98000000, 0x5000)
		s.leave("MPI_Wait", statusOf(1, int64(i), 16)...)
	}},
	{"CommDupFree", 2, func(s *synth, i int) {
		s.enter("MPI_Comm_dup", commWorld)
		s.leave("MPI_Comm_dup", cat(0x84000001, 0, 1, 4, -1, 0, 0)...)
		s.enter("MPI_Comm_free", 0x84000001)
		s.leave("MPI_Comm_free")
	}},
	{"TypeVectorFree", 3, func(s *synth, i int) {
		s.enter("MPI_Type_vector", 3, 1, 2, typeInt)
		s.leave("MPI_Type_vector", cat(0x8c000001, 12, 0, 20, 0, 20)...)
		s.enter("MPI_Type_commit", 0x8c000001)
		s.leave("MPI_Type_commit", 0x8c000001)
		s.enter("MPI_Type_free", 0x8c000001)
		s.leave("MPI_Type_free")
	}},
	{"SendInitFree", 4, func(s *synth, i int) {
		s.enter("MPI_Send_init", cat(buffer(stackBuf), 4, typeInt, 1, 3, commWorld)...)
		s.leave("MPI_Send_init", 0xa8000001, 0x7000)
		s.enter("MPI_Start", 0xa8000001, 0x7000)
		s.leave("MPI_Start")
		s.wait(0xa8000001, 0x7000)
		s.enter("MPI_Request_free", 0xa8000001, 0x7000)
		s.leave("MPI_Request_free")
	}},
	{"Waitall16", 33, func(s *synth, i int) {
		var handles []uint64
		for k := range uint64(16) {
			s.irecv(0x98000000+k, 0x5000+4*k)
			handles = append(handles, 0x98000000+k)
		}
		for k := range uint64(16) {
			s.isend(shared, 0x5040+4*k)
			handles = append(handles, shared)
		}
		s.waitall(0x5000, handles...)
	}},
}

// fill writes iterations of a loop until the ring is nearly full.
func fill(tb testing.TB, capacity uint64, body func(s *synth, i int)) (*synth, int) {
	s := newSynth(tb, 0, capacity)
	n := 0
	for {
		head, err := s.w.Ring.Head()
		if err != nil {
			tb.Fatal(err)
		}
		if head > capacity-8192 {
			return s, n
		}
		body(s, n)
		n++
	}
}

// cpu is the processor time of this process: other processes don't disturb it.
func cpu() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkDrain(b *testing.B) {
	for _, l := range loops {
		b.Run(l.name, func(b *testing.B) {
			s, n := fill(b, 1<<16, l.body)
			c := attach(b, testConfig(), s)
			b.ReportAllocs()
			calls, begin := 0, cpu()
			for b.Loop() {
				c.streams[0].pos = 0 // the same records again
				if err := c.Drain(); err != nil {
					b.Fatal(err)
				}
				calls += n * l.calls
			}
			b.ReportMetric(float64(cpu()-begin)/float64(calls), "cpu-ns/call")
		})
	}
}

func BenchmarkCheckpoint(b *testing.B) {
	for _, sigs := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(sigs), func(b *testing.B) {
			s := newSynth(b, 0, 1<<22)
			for i := range sigs * 2 {
				s.enter("MPI_Send", cat(buffer(stackBuf), 4, typeInt, 1, i*i%sigs, commWorld)...)
				s.leave("MPI_Send")
			}
			cfg := testConfig()
			cfg.ProcessDir = b.TempDir()
			c := attach(b, cfg, s)
			if err := c.Drain(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c.Checkpoint()
			}
			b.ReportMetric(float64(c.CheckpointBytes())/float64(c.checkpoints.sequence), "B/checkpoint")
		})
	}
}

// BenchmarkRandom takes in calls that don't repeat, with the checkpoints that
// a ring of usual size needs.
func BenchmarkRandom(b *testing.B) {
	const calls = 200000
	s := newSynth(b, 0, 1<<20)
	cfg := testConfig()
	cfg.ProcessDir = b.TempDir()
	var c *Capture
	var spent int64
	for b.Loop() {
		s = newSynth(b, 0, 1<<20)
		c = attach(b, cfg, s)
		seed := uint32(1)
		for i := range calls {
			seed = seed*1103515245 + 12345
			s.enter("MPI_Send", cat(buffer(stackBuf), 4, typeInt, 1, int(seed>>16)&63, commWorld)...)
			s.leave("MPI_Send")
			if i%512 == 0 {
				begin := cpu()
				if err := c.Drain(); err != nil {
					b.Fatal(err)
				}
				spent += cpu() - begin
			}
		}
		c.CloseCheckpoints()
	}
	b.ReportMetric(float64(spent)/calls/float64(b.N), "cpu-ns/call")
	b.ReportMetric(float64(c.CheckpointBytes())/calls, "B/call")
}

// BenchmarkThreads takes in two threads whose calls overlap in time.
func BenchmarkThreads(b *testing.B) {
	x, y := newSynth(b, 0, 1<<16), newSynth(b, 1, 1<<16)
	x.w.TicksPerRecord, y.w.TicksPerRecord = 20, 20
	y.w.NextTicks += 10
	const laps = 500
	for range laps {
		x.commRank()
		y.commRank()
	}
	c := attach(b, testConfig(), x, y)
	calls, begin := 0, cpu()
	for b.Loop() {
		c.streams[0].pos, c.streams[1].pos = 0, 0
		if err := c.Drain(); err != nil {
			b.Fatal(err)
		}
		calls += 2 * laps
	}
	b.ReportMetric(float64(cpu()-begin)/float64(calls), "cpu-ns/call")
}

// BenchmarkTiming is what the modes of timing cost per call, with checkpoints as a
// ring of usual size needs them. Times vary, or histograms would have an easy life.
func BenchmarkTiming(b *testing.B) {
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist, timing.ModeLossless, timing.ModeNone} {
		b.Run(string(mode), func(b *testing.B) {
			const laps = 300
			var spent int64
			calls := 0
			for b.Loop() {
				s := newSynth(b, 0, 1<<20)
				cfg := testConfig()
				cfg.ProcessDir = b.TempDir()
				cfg.Timing.Mode = mode
				c := attach(b, cfg, s)
				seed := uint32(1)
				for range 60 {
					for range laps {
						for _, call := range []func(){s.commRank, s.iprobe, s.allreduce} {
							seed = seed*1103515245 + 12345
							s.w.TicksPerRecord = 100 + uint64(seed>>16&255)
							call()
							calls++
						}
					}
					begin := cpu()
					if err := c.Drain(); err != nil {
						b.Fatal(err)
					}
					spent += cpu() - begin
				}
				c.CloseCheckpoints()
				c.CloseLogs()
			}
			b.ReportMetric(float64(spent)/float64(calls), "cpu-ns/call")
		})
	}
}

// BenchmarkCounter takes in a loop whose tag counts: a receive, a send and a wait in
// each iteration. It tells what a call costs and how much memory the recorder holds in
// the end.
func BenchmarkCounter(b *testing.B) {
	for _, iterations := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(iterations), func(b *testing.B) {
			var spent int64
			calls, held := 0, uint64(0)
			for b.Loop() {
				var before, after runtime.MemStats
				s := newSynth(b, 0, 1<<20)
				c := attach(b, testConfig(), s)
				c.sigs.PromoteAfter = 0 // as usual
				runtime.GC()
				runtime.ReadMemStats(&before)
				drain := func() {
					begin := cpu()
					if err := c.Drain(); err != nil {
						b.Fatal(err)
					}
					spent += cpu() - begin
				}
				for i := range iterations {
					s.enter("MPI_Irecv", cat(buffer(stackBuf+64), 4, typeInt, 1, i, commWorld)...)
					s.leave("MPI_Irecv", 0x98000000, 0x5000)
					s.enter("MPI_Send", cat(buffer(stackBuf), 4, typeInt, 1, i, commWorld)...)
					s.leave("MPI_Send")
					s.enter("MPI_Wait", 0x98000000, 0x5000)
					s.leave("MPI_Wait", statusOf(1, int64(i), 16)...)
					calls += 3
					if i%512 == 511 {
						drain()
					}
				}
				drain()
				runtime.GC()
				runtime.ReadMemStats(&after)
				held = after.HeapAlloc - min(after.HeapAlloc, before.HeapAlloc)
				runtime.KeepAlive(c)
				runtime.KeepAlive(s)
			}
			b.ReportMetric(float64(spent)/float64(calls), "cpu-ns/call")
			b.ReportMetric(float64(held), "B-held")
		})
	}
}

// BenchmarkModes is the same for one distinct call, for 64 in turn and for 64 in disorder, with checkpoints,
// and with a program beside it that needs the caches as well. Of the times of all
// laps it is a low one, undisturbed by what else the machine does.
func BenchmarkModes(b *testing.B) {
	for _, l := range loops {
		if l.name != "Iprobe" && l.name != "Send64Tags" && l.name != "Send64Random" {
			continue
		}
		for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist} {
			b.Run(l.name+"/"+string(mode), func(b *testing.B) {
				const calls = 4096
				program := make([]uint64, 1<<17)
				cfg := testConfig()
				cfg.ProcessDir, cfg.Timing.Mode = b.TempDir(), mode
				var c *Capture
				var s *synth
				seed := uint32(1)
				var laps []time.Duration
				for n := 0; b.Loop(); n++ {
					if n%20 == 0 {
						if c != nil {
							c.CloseCheckpoints()
						}
						s = newSynth(b, 0, 1<<20)
						c = attach(b, cfg, s)
						c.sigs.PromoteAfter = 0 // as usual
					}
					spent := time.Duration(0)
					for i := range calls {
						seed = seed*1103515245 + 12345
						s.w.TicksPerRecord = 100 + uint64(seed>>16&255)
						l.body(s, i)
						if i%512 == 511 {
							for i := 0; i < len(program); i += 8 {
								program[i]++
							}
							begin := time.Now()
							if err := c.Drain(); err != nil {
								b.Fatal(err)
							}
							spent += time.Since(begin)
						}
					}
					if n%20 > 1 {
						laps = append(laps, spent)
					}
				}
				c.CloseCheckpoints()
				slices.Sort(laps)
				if len(laps) > 0 {
					b.ReportMetric(float64(laps[len(laps)/10].Nanoseconds())/calls, "ns/call")
				}
			})
		}
	}
}
