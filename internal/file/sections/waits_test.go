package sections

import (
	"bytes"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// FuzzWaits: what is no section of waits is an error, and what is one goes both ways.
func FuzzWaits(f *testing.F) {
	ranks := []model.WaitRankNs{{Rank: 1, Ns: 30}, {Rank: 0, Ns: 10}}
	for _, w := range []model.Waits{
		{Status: model.WaitsAnalysisTooLong, EstimatedAnalysisNs: 100},
		{Status: model.WaitsTooManyCalls},
		{
			AnalysedShare: 1, MaxThreads: 2, ThreadRunNs: 99, MPINs: 50, Messages: 7, BackwardMessages: 1, ClockErrorNs: 3,
			Sites: []model.WaitSite{
				{FunctionSiteNumbers: model.FunctionSiteNumbers{FunctionIndex: 1, SiteNumber: 2}, Kind: 3, Count: 4, WaitedNs: 40, Ranks: ranks, LateRanks: ranks[:1], WaitingRanks: 2, AwaitedRanks: 3,
					Causes: []model.WaitCause{{FunctionSiteNumbers: model.FunctionSiteNumbers{FunctionIndex: 0, SiteNumber: 1}, WaitShare: 1, ComputeShare: 0.5}}},
				{FunctionSiteNumbers: model.FunctionSiteNumbers{FunctionIndex: -1}, Kind: 1, Count: 1, WaitedNs: 10},
			},
			ByRank:              []model.WaitRank{{Rank: 0, ThreadRunNs: 50, MPINs: 25, WaitedNs: 10, CausedWaitNs: 30}, {Rank: 3, ThreadRunNs: 49, MPINs: 25, WaitedNs: 30, CausedWaitNs: 10}},
			UnanalysedFunctions: []model.UnanalysedFunction{{FunctionIndex: 2, CallNs: 5}}, Omissions: []model.WaitOmission{{Reason: "calls", Count: 2}},
			Path: &model.CriticalPath{LengthNs: 50, OutsideMPINs: 20, AsideNs: 1, Hops: 4, EndRank: 1, Ranks: []model.CriticalPathRank{{Rank: 1, ComputeNs: 3, MPINs: 5}},
				Sites: []model.CriticalPathSite{{FunctionSiteNumbers: model.FunctionSiteNumbers{FunctionIndex: 1, SiteNumber: 1}, ComputeNs: 20, MPINs: 29, MeanOverRanksNs: 30, MaxRank: 2}}},
		},
	} {
		f.Add(AppendWaits(nil, &w))
	}
	n := DecodingLimits{Ranks: 4, Functions: 3, Sites: 2, Kinds: 8}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data, "waits")
		w := DecodeWaits(r, n)
		if r.Finish() != nil {
			return
		}
		b := AppendWaits(nil, w)
		r = wire.NewReader(b, "waits")
		again := DecodeWaits(r, n)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if second := AppendWaits(nil, again); !bytes.Equal(second, b) {
			t.Fatalf("%x became %x", b, second)
		}
	})
}

// Each rank's waiting is within 1 % of its own, also where it is a small part of the site's.
func TestWaitingOfRanks(t *testing.T) {
	site := model.WaitSite{Count: 16, WaitingRanks: 16}
	for rank := range 16 {
		ns := int64(1_000_000 + 37_123*rank)
		site.WaitedNs += ns
		site.Ranks = append(site.Ranks, model.WaitRankNs{Rank: rank, Ns: ns})
	}
	r := wire.NewReader(AppendWaits(nil, &model.Waits{AnalysedShare: 1, MaxThreads: 1, Sites: []model.WaitSite{site}}), "waits")
	w := DecodeWaits(r, DecodingLimits{Ranks: 16, Functions: 1, Sites: 1, Kinds: 1})
	if err := r.Finish(); err != nil || len(w.Sites) != 1 || len(w.Sites[0].Ranks) != 16 {
		t.Fatalf("%v: %+v", err, w)
	}
	for i, got := range w.Sites[0].Ranks {
		if want := site.Ranks[i]; got.Rank != want.Rank || math.Abs(float64(got.Ns)/float64(want.Ns)-1) > 0.01 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
