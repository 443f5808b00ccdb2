package sections

import (
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// somePartners is a family that can be, changed.
func somePartners(change func(p *model.SyntheticMessages)) []model.SyntheticMessages {
	p := model.SyntheticMessages{Seed: 1 << 63, Intervals: 5, ExchangeCount: 40, DistinctExchanges: 5, WrapsAround: true, SendSegment: 7, ReceiveSegment: 8}
	for i, d := range distributions(&p) {
		d.Least, d.Most = end(int64(-9*i), i), end(900, 3)
		d.Bins = []model.Bin{{Low: int64(-9 * i), High: 3, ReplacingValue: 2, Count: 5}, {Low: 900, High: 900, ReplacingValue: 900, Count: 1}}
	}
	if change != nil {
		change(&p)
	}
	return []model.SyntheticMessages{p}
}

// TestBadPartners: what can't be is neither written nor read.
func TestBadPartners(t *testing.T) {
	for name, change := range map[string]func(p *model.SyntheticMessages){
		"rank":         func(p *model.SyntheticMessages) { p.Tags.Most.Rank = 4 },
		"order":        func(p *model.SyntheticMessages) { p.Sizes.Bins[1].Low = 2 },
		"value":        func(p *model.SyntheticMessages) { p.Sizes.Bins[0].ReplacingValue = 4 },
		"beyond":       func(p *model.SyntheticMessages) { p.RankDistances.Bins[1].High = 901 },
		"no bins":      func(p *model.SyntheticMessages) { p.MessagesPerInterval.Bins = nil },
		"no count":     func(p *model.SyntheticMessages) { p.MessagesPerInterval.Bins[0].Count = 0 },
		"no exchanges": func(p *model.SyntheticMessages) { p.DistinctExchanges = 0 },
		"few rounds":   func(p *model.SyntheticMessages) { p.ExchangeCount = 4 },
		"large":        func(p *model.SyntheticMessages) { p.Sizes.Most.Value = 1<<60 + 1 },
	} {
		c := Content{Ranks: 4, SyntheticMessages: somePartners(change)}
		if c.checkPartners() == nil {
			t.Errorf("%s: could be written", name)
		}
		r := wire.NewReader((&Content{SyntheticMessages: c.SyntheticMessages}).appendPartners(nil), "partners")
		if DecodeSyntheticMessages(r, 4); r.Finish() == nil {
			t.Errorf("%s: could be read", name)
		}
	}
}

// FuzzPartners: what is no list of drawn messages is an error, and what is one goes both ways.
func FuzzPartners(f *testing.F) {
	f.Add((&Content{SyntheticMessages: somePartners(nil)}).appendPartners(nil))
	f.Add((&Content{SyntheticMessages: nil}).appendPartners(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := wire.NewReader(data, "partners")
		list := DecodeSyntheticMessages(w, 4)
		if w.Finish() != nil {
			return
		}
		if err := (&Content{Ranks: 4, SyntheticMessages: list}).checkPartners(); err != nil {
			t.Fatal(err)
		}
		w = wire.NewReader((&Content{SyntheticMessages: list}).appendPartners(nil), "partners")
		again := DecodeSyntheticMessages(w, 4)
		if err := w.Finish(); err != nil || !reflect.DeepEqual(again, list) {
			t.Fatalf("%+v became %+v: %v", list, again, err)
		}
	})
}
