package capture

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// sameTrack compares tracks by what their streams expand to: a grammar that
// was saved and restored may be another one for the same sequence.
func sameTrack(tb rapid.TB, got, want *track.Track) {
	tb.Helper()
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(track.Track{}, "Streams", "Signatures", "Times", "AttachedStats", "Hists", "TimeLog", "AnalysisTimeLog", "Allocs", "Lanes")); d != "" {
		tb.Fatalf("-want +got:\n%s", d)
	}
	if len(got.Lanes) != len(want.Lanes) {
		tb.Fatalf("%d lanes, want %d", len(got.Lanes), len(want.Lanes))
	}
	for i := range want.Lanes {
		if d := cmp.Diff(want.Lanes[i], got.Lanes[i], cmpopts.IgnoreFields(signature.Lane{}, "Steps")); d != "" {
			tb.Fatalf("lane %d: -want +got:\n%s", i, d)
		}
	}
	if len(got.Streams) != len(want.Streams) {
		tb.Fatalf("%d streams, want %d", len(got.Streams), len(want.Streams))
	}
	if d := cmp.Diff(allocsOf(want), allocsOf(got)); d != "" {
		tb.Fatalf("allocs: -want +got:\n%s", d)
	}
	for i := range want.Streams {
		if d := cmp.Diff(calls(want, i), calls(got, i)); d != "" {
			tb.Fatalf("stream %d: -want +got:\n%s", i, d)
		}
	}
	table := func(t *track.Track) map[string]track.Times {
		m := make(map[string]track.Times)
		for i, s := range t.Signatures {
			m[fmt.Sprint(s)] = t.Times[i]
		}
		return m
	}
	if d := cmp.Diff(table(want), table(got)); d != "" {
		tb.Fatalf("times: -want +got:\n%s", d)
	}
	if d := cmp.Diff(logged(tb, want), logged(tb, got)); d != "" {
		tb.Fatalf("times of calls: -want +got:\n%s", d)
	}
	if d := cmp.Diff(valueTable(want), valueTable(got)); d != "" {
		tb.Fatalf("values: -want +got:\n%s", d)
	}
	// Threads that call at the same time may be counted in another order.
	if d := cmp.Diff(histogramTable(want), histogramTable(got)); len(want.Streams) == 1 && d != "" {
		tb.Fatalf("histograms: -want +got:\n%s", d)
	}
}

// logged are all times of a track's calls.
func logged(tb rapid.TB, t *track.Track) [][]timing.CallTicks {
	log := t.AnalysisTimeLog // the same as t.Log, if there is that
	if log == nil {
		return nil
	}
	list := make([][]timing.CallTicks, len(log.Streams))
	for i, blocks := range log.Streams {
		for entries, err := range blocks {
			if err != nil {
				tb.Fatalf("stream %d: %v", i, err)
			}
			list[i] = append(list[i], entries...)
		}
		if n := t.Streams[i].Grammar.Len(); uint64(len(list[i])) != n {
			tb.Fatalf("stream %d: times of %d calls, there are %d", i, len(list[i]), n)
		}
	}
	return list
}

// valueTable is what was attached, by name and signature.
func valueTable(t *track.Track) map[string]model.AttachedStat {
	m := make(map[string]model.AttachedStat)
	for name, list := range t.AttachedStats {
		for i, s := range list {
			m[name+" "+fmt.Sprint(t.Signatures[i])] = s
		}
	}
	return m
}

// histogramTable are a track's histograms by signature and what came before.
func histogramTable(t *track.Track) map[string][]byte {
	m := make(map[string][]byte)
	for _, h := range t.Hists {
		key := fmt.Sprint(t.Signatures[h.Terminal])
		if h.PreviousTerminal >= 0 {
			key += fmt.Sprint(" after ", t.Signatures[h.PreviousTerminal].FunctionID, t.Signatures[h.PreviousTerminal].Site)
		} else {
			key += fmt.Sprint(h.PreviousTerminal)
		}
		m[key] = h.Gap.AppendBinary(h.Duration.AppendBinary(nil))
	}
	return m
}
