package capture

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A looper makes calls of a loop: requests stand in variables, each with handles that come in
// turn.
type looper struct {
	*synth
	busy [4]uint64 // handles in variables; 0: none
	init [2]bool   // persistent requests
}

func (s *looper) step(what, lap, turns int) {
	k := what / 16 % 4
	place, own := 0x5000+4*uint64(k), 0x98000000+uint64(k)+16*uint64(lap%turns)
	lasting := 0xa8000000 + uint64(k&1)
	switch what %= 16; {
	case what == 0:
		s.iprobe()
	case what == 1:
		s.enter("MPI_Send", cat(buffer(stackBuf), 4, typeInt, 1, k, commWorld)...)
		s.leave("MPI_Send")
	case what < 5 && s.busy[k] == 0:
		s.busy[k] = own
		s.irecv(own, place)
	case what < 7 && s.busy[k] == 0:
		s.busy[k] = shared
		s.isend(shared, place)
	case what < 10 && s.busy[k] != 0:
		s.wait(s.busy[k], place)
		s.busy[k] = 0
	case what < 13:
		handles := make([]uint64, 4)
		for i := range handles {
			if handles[i] = s.busy[i]; handles[i] == 0 {
				handles[i] = requestNull
			}
			s.busy[i] = 0
		}
		s.waitall(0x5000, handles...)
	case what == 13 && s.init[k&1]:
		s.enter("MPI_Start", lasting, 0x7000+uint64(k))
		s.leave("MPI_Start")
		s.wait(lasting, 0x7000+uint64(k))
	case what == 14 && !s.init[k&1]:
		s.init[k&1] = true
		s.enter("MPI_Send_init", cat(buffer(stackBuf), 4, typeInt, 1, k&2, commWorld)...)
		s.leave("MPI_Send_init", lasting, 0x7000+uint64(k))
	case what == 14:
		s.init[k&1] = false
		s.enter("MPI_Request_free", lasting, 0x7000+uint64(k))
		s.leave("MPI_Request_free")
	case what == 15 && k == 0:
		s.enter("MPI_Type_dup", typeInt)
		s.leave("MPI_Type_dup", cat(0x8c100001, 4, 0, 4, 0, 4)...)
		s.enter("MPI_Type_free", 0x8c100001)
		s.leave("MPI_Type_free")
	case what == 15 && k == 1:
		s.from(0x401000+8*uint64(s.stacks), 0x402000)
	case what == 15 && k == 2:
		s.enter("MPI_Wtime")
		s.leave("MPI_Wtime", s.w.NextTicks<<20)
	default:
		s.commRank()
	}
}

// Whether calls are taken in by laps or one by one makes no difference.
func TestLaps(t *testing.T) {
	lapped := 0
	rapid.Check(t, func(r *rapid.T) {
		threads := rapid.IntRange(1, 2).Draw(r, "threads")
		cfg := testConfig()
		cfg.Timing.Waits = timing.WaitsAuto
		cfg.Timing.Mode = rapid.SampledFrom([]timing.Mode{timing.ModeStats, timing.ModeHist, timing.ModeNone}).Draw(r, "mode")
		var once, often []*looper
		var a, b []*synth
		for i := range threads {
			once, often = append(once, &looper{synth: newSynth(t, i, 1<<20)}), append(often, &looper{synth: newSynth(t, i, 1<<20)})
			a, b = append(a, once[i].synth), append(b, often[i].synth)
		}
		slow := attach(t, cfg, b...)
		for range rapid.IntRange(1, 3).Draw(r, "loops") {
			body := rapid.SliceOfN(rapid.IntRange(0, 63), 1, 8).Draw(r, "body")
			turns := rapid.IntRange(1, 4).Draw(r, "turns")
			odd := rapid.IntRange(0, 200).Draw(r, "odd")
			for lap := range rapid.IntRange(1, 150).Draw(r, "laps") {
				now := a[0].w.NextTicks
				for i := range threads {
					a[i].w.NextTicks, b[i].w.NextTicks = now, now
					for at, what := range body {
						if lap == odd && at == odd%len(body) {
							what += 17
						}
						step := 10 + uint64(lap*lap%7)
						once[i].w.TicksPerRecord, often[i].w.TicksPerRecord = step, step
						once[i].step(what, lap, turns)
						often[i].step(what, lap, turns)
						if err := slow.Drain(); err != nil {
							r.Fatal(err)
						}
					}
					now = a[i].w.NextTicks + 1
				}
				a[0].w.NextTicks, b[0].w.NextTicks = now, now
			}
		}
		want, err := slow.Track(track.EndFinished)
		if err != nil {
			r.Fatal(err)
		}
		quick := attach(t, cfg, a...)
		if err := quick.Drain(); err != nil {
			r.Fatal(err)
		}
		lapped += quick.lapped
		got, err := quick.Track(track.EndFinished)
		if err != nil {
			r.Fatal(err)
		}
		sameTrack(r, got, want)
	})
	if lapped == 0 {
		t.Error("no call was taken in by laps")
	}

}
