package sections

import (
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// somePartners is a family that can be, changed.
func somePartners(change func(p *model.Partners)) []model.Partners {
	p := model.Partners{Seed: 1 << 63, Intervals: 5, Rounds: 40, Exchanges: 5, Ring: true, Sent: 7, Received: 8}
	for i, d := range distributions(&p) {
		d.Least, d.Most = end(int64(-9*i), i), end(900, 3)
		d.Bins = []model.Bin{{Low: int64(-9 * i), High: 3, Value: 2, Count: 5}, {Low: 900, High: 900, Value: 900, Count: 1}}
	}
	if change != nil {
		change(&p)
	}
	return []model.Partners{p}
}

// TestBadPartners: what can't be is neither written nor read.
func TestBadPartners(t *testing.T) {
	for name, change := range map[string]func(p *model.Partners){
		"rank":         func(p *model.Partners) { p.Tags.Most.Rank = 4 },
		"order":        func(p *model.Partners) { p.Sizes.Bins[1].Low = 2 },
		"value":        func(p *model.Partners) { p.Sizes.Bins[0].Value = 4 },
		"beyond":       func(p *model.Partners) { p.Relative.Bins[1].High = 901 },
		"no bins":      func(p *model.Partners) { p.Numbers.Bins = nil },
		"no count":     func(p *model.Partners) { p.Numbers.Bins[0].Count = 0 },
		"no exchanges": func(p *model.Partners) { p.Exchanges = 0 },
		"few rounds":   func(p *model.Partners) { p.Rounds = 4 },
		"large":        func(p *model.Partners) { p.Sizes.Most.Value = 1<<60 + 1 },
	} {
		c := Content{Ranks: 4, Partners: somePartners(change)}
		if c.checkPartners() == nil {
			t.Errorf("%s: could be written", name)
		}
		r := wire.NewReader((&Content{Partners: c.Partners}).appendPartners(nil), "partners")
		if DecodePartners(r, 4); r.Done() == nil {
			t.Errorf("%s: could be read", name)
		}
	}
}

// FuzzPartners: what is no list of drawn messages is an error, and what is one goes both ways.
func FuzzPartners(f *testing.F) {
	f.Add((&Content{Partners: somePartners(nil)}).appendPartners(nil))
	f.Add((&Content{Partners: nil}).appendPartners(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := wire.NewReader(data, "partners")
		list := DecodePartners(w, 4)
		if w.Done() != nil {
			return
		}
		if err := (&Content{Ranks: 4, Partners: list}).checkPartners(); err != nil {
			t.Fatal(err)
		}
		w = wire.NewReader((&Content{Partners: list}).appendPartners(nil), "partners")
		again := DecodePartners(w, 4)
		if err := w.Done(); err != nil || !reflect.DeepEqual(again, list) {
			t.Fatalf("%+v became %+v: %v", list, again, err)
		}
	})
}
