package capture

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A log that becomes too large keeps its end, also for who finds it when the process has died.
func TestLogSheds(t *testing.T) {
	before := mostLog
	defer func() { mostLog = before }()
	const calls = 6 * frameItems
	entries := func(most int64, resumed bool) (track.DroppedTimes, []timing.CallTicks) {
		mostLog = most
		dir := t.TempDir()
		cfg := testConfig()
		cfg.ProcessDir, cfg.Timing.Waits = dir, timing.WaitsAuto
		s := newSynth(t, 0, 1<<21)
		c := attach(t, cfg, s)
		defer c.CloseCheckpoints()
		defer c.CloseLogs()
		for i := range calls {
			s.enter("MPI_Barrier", commWorld)
			s.w.NextTicks += uint64(uint32(i)*2654435761>>16) % 5000
			s.leave("MPI_Barrier")
			if i%1024 == 1023 {
				if err := c.Drain(); err != nil {
					t.Fatal(err)
				}
			}
		}
		log := (*track.TimeLog)(nil)
		if resumed {
			c.Checkpoint()
			written(t, dir, []*synth{s})
			rest, err := RecoverRecording(dir)
			if err != nil || rest.Damage != nil {
				t.Fatal(err, rest.Damage)
			}
			log = rest.Track.AnalysisTimeLog
		} else {
			tr, err := c.Track(track.EndFinished)
			if err != nil {
				t.Fatal(err)
			}
			log = tr.AnalysisTimeLog
		}
		if log == nil {
			t.Fatal("no log")
		}
		var list []timing.CallTicks
		for e, err := range log.Streams[0] {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e...)
		}
		return log.DroppedTimes[0], list
	}
	_, all := entries(before, false)
	if len(all) != calls {
		t.Fatalf("%d entries of %d calls", len(all), calls)
	}
	for _, resumed := range []bool{false, true} {
		skipped, list := entries(200_000, resumed)
		if n := int(skipped.Calls); n == 0 || n+len(list) != calls || !slices.Equal(list, all[n:]) {
			t.Errorf("resumed %v: %d calls skipped, %d are left of %d", resumed, n, len(list), calls)
		}
		tick := int64(0)
		for _, e := range all[:skipped.Calls] {
			_, tick = e.Advance(tick)
		}
		if tick != skipped.LastEndTick {
			t.Errorf("resumed %v: tick %d, want %d", resumed, skipped.LastEndTick, tick)
		}
	}
}
