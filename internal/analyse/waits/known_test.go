package waits_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// found looks for the waits of two ranks whose calls begin and end when times says, in ns.
func found(t *testing.T, program func(r *tracktest.Recorder), times [2][][2]int64, change func(*track.Track)) *waits.Report {
	t.Helper()
	tracks := tracktest.RunAll(2, program)
	for rank, tr := range tracks {
		tr.Process.StartNs = 1000
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
			x, before := times[rank][i], int64(0)
			if i > 0 {
				before = times[rank][i-1][1]
			}
			return uint64(x[0] - before), uint64(x[1] - x[0])
		})
		change(tr)
	}
	rep, err := waits.Analyse(mergetest.Open(t, tracks, nil), waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// However many calls the late rank makes while another waits, what it computed is what it spent outside of them.
func TestLateRankPolls(t *testing.T) {
	const polls = 3000
	var times [2][][2]int64
	times[0] = [][2]int64{{0, 100}}
	for i := range int64(polls) {
		times[0] = append(times[0], [2]int64{100 + 10*i, 100 + 10*i + 4})
	}
	end := int64(100 + 10*polls)
	times[0] = append(times[0], [2]int64{end, end + 50})
	times[1] = [][2]int64{{0, 100}, {100, end + 60}}
	rep := found(t, func(r *tracktest.Recorder) {
		r.Begin()
		if r.Rank == 1 {
			r.Recv(5, 4, 0, 7)
			return
		}
		for range polls {
			r.Call("MPI_Comm_rank", 70, tracktest.World, 0)
		}
		r.Send(4, 4, 1, 7)
	}, times, func(*track.Track) {})
	if c := rep.Sites[0].Causes[0]; rep.ByRank[1].WaitedNs != 10*polls || c.LateComputeNs != 6*polls {
		t.Errorf("waited %d ns, of which the late one computed %d; want %d, %d", rep.ByRank[1].WaitedNs, c.LateComputeNs, 10*polls, 6*polls)
	}
}

// In a call of two ranks that sends and receives, each waits for the other's send as long as for its receive: that is a late sender,
// whichever rank's turn comes first.
func TestTie(t *testing.T) {
	for late := range 2 {
		var times [2][][2]int64
		for rank := range 2 {
			begin := int64(200)
			if rank == late {
				begin = 500
			}
			times[rank] = [][2]int64{{0, 100}, {begin, 600}}
		}
		rep := found(t, func(r *tracktest.Recorder) {
			r.Begin()
			with := int64(1 - r.Rank)
			r.Call("MPI_Sendrecv", 16, 1, 0, 8, tracktest.IntType, with, 3, 1, 4096, 8, tracktest.IntType, with, 3, tracktest.World, 1, with, 3, 32, 0)
		}, times, func(*track.Track) {})
		if len(rep.Kinds) != 1 || rep.Kinds[0].Kind != waits.LateSender || rep.ByRank[1-late].WaitedNs != 300 {
			t.Errorf("rank %d is late: %+v", late, rep.Kinds)
		}
	}
}

// Where one end of a channel was not recorded for a while, the k-th message sent is not the k-th received: nothing is said of these
// messages, rather than something wrong.
func TestSwitchedOff(t *testing.T) {
	var times [2][][2]int64
	for rank := range 2 {
		times[rank] = [][2]int64{{0, 100}}
		for i := range int64(6) {
			begin := 100 + 200*i
			if rank == 0 {
				times[rank] = append(times[rank], [2]int64{begin + 200, begin + 210})
			} else {
				times[rank] = append(times[rank], [2]int64{begin + 20, begin + 205})
			}
		}
		times[rank] = append(times[rank], [2]int64{1500, 1510}, [2]int64{1520, 1530})
	}
	rep := found(t, func(r *tracktest.Recorder) {
		r.Begin()
		if r.Rank == 0 {
			for range 5 {
				r.Send(4, 4, 1, 7)
			}
			r.Send(6, 4, 1, 8)
			r.Send(6, 4, 1, 8)
			return
		}
		for range 6 {
			r.Recv(5, 4, 0, 7)
		}
		r.Recv(6, 4, 0, 8)
		r.Recv(6, 4, 0, 8)
	}, times, func(tr *track.Track) {
		if tr.Rank == 0 {
			tr.Process.LostCalls = 1
		}
	})
	want := []ops.Loss{{Reason: "messages that could not be matched: their two ends were not recorded equally often", Count: 11}}
	if diff := cmp.Diff(want, rep.Omissions); diff != "" || rep.Messages != 2 || rep.BackwardMessages != 0 {
		t.Errorf("%d messages matched, %d backwards; %s", rep.Messages, rep.BackwardMessages, diff)
	}
}
