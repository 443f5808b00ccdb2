package trace_test

import (
	"errors"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A trace without times has none of the sections about them, says so, and is as much smaller as
// these take; all else is as it was.
func TestTimeless(t *testing.T) {
	for name, program := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "workers": tracktest.Workers(12), "endless": tracktest.Endless, "makers": tracktest.Makers,
	} {
		ofTimes := map[string]bool{"times": true, "places": true, "places-mixed": true, "totals": true, "asides": true, "series": true, "clocks": true}
		var sizes [2]map[string]int64
		var files [2]int
		for i := range sizes {
			s, err := merge.MergeAll(tracktest.RunAll(4, program), 4)
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Content(map[string]string{trace.MetaCommand: name})
			if err != nil {
				t.Fatal(err)
			}
			c.NoTimes = i == 1
			b, err := sections.EncodeFile(c)
			if err != nil {
				t.Fatal(err)
			}
			r, err := trace.ReadBytes(b, name)
			if err == nil {
				err = trace.Check(r)
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			files[i], sizes[i] = len(b), make(map[string]int64)
			for _, x := range r.Sections() {
				sizes[i][x.Name] = x.StoredBytes
			}
			if r.HasTimes() == c.NoTimes || errors.Is(r.RequireTimes(), trace.ErrNoTimes) != c.NoTimes {
				t.Errorf("%s: has times: %t, %v", name, r.HasTimes(), r.RequireTimes())
			}
			if !c.NoTimes {
				continue
			}
			if kind, err := r.TimeKind(); kind != trace.NoSample || err != nil {
				t.Errorf("%s: times are %v, %v", name, kind, err)
			}
			k, err := r.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.MomentAt(0, 1); !errors.Is(err, trace.ErrNoTimes) {
				t.Errorf("%s: At: %v", name, err)
			}
			if p, err := k.Process(); err != nil || p.FirstThreadNs != 0 || p.InitWallClockNs != 0 || p.AllThreadsMPINs != 0 || p.Host == "" {
				t.Errorf("%s: process %+v, %v", name, p, err)
			}
			if _, err := r.StorageCosts(); err != nil {
				t.Error(err)
			}
		}
		with, without := sizes[0], sizes[1]
		for section, n := range with {
			switch {
			case ofTimes[section] && without[section] != 0:
				t.Errorf("%s: %d bytes of section %s without times", name, without[section], section)
			case !ofTimes[section] && section != "process" && without[section] != n:
				t.Errorf("%s: section %s takes %d bytes, without times %d", name, section, n, without[section])
			}
		}
		saved := files[0] - files[1]
		if least := with["times"] + with["totals"] + with["places"] + with["asides"]; int64(saved) < least || least == 0 {
			t.Errorf("%s: %d bytes, without times %d: less than the %d of times are saved", name, files[0], files[1], least)
		}
		t.Logf("%s: %d bytes, without times %d", name, files[0], files[1])
	}
}
