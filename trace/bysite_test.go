package trace

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/bysite"
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/wire"
)

type callPlace struct {
	call uint16
	site int
}

// codedBySite are the calls of a trace by site, all sites in one loop.
func codedBySite(t testing.TB, r *Reader) []byte {
	t.Helper()
	var threads []bysite.Thread
	for k, err := range r.Tracks() {
		if err != nil {
			t.Fatal(err)
		}
		for len(threads) < k.Streams() {
			threads = append(threads, bysite.Thread{})
		}
	}
	for i := range threads {
		x := &threads[i]
		place := make(map[callPlace]int)
		calls := make([][]signature.Signature, r.Ranks())
		for k := range r.Tracks() {
			if i >= k.Streams() {
				continue
			}
			calls[k.Number()] = []signature.Signature{}
			for n := range k.streams[i].All() {
				g, site := k.class.Terminals[n].Group, k.class.Terminals[n].Site
				vals, err := bysite.LeftOut(r.byID[g.Call], k.Signature(int(n)))
				if err != nil {
					t.Fatal(err)
				}
				key := callPlace{g.Call, site}
				if _, known := place[key]; !known {
					place[key] = len(x.Sites)
					x.Sites = append(x.Sites, bysite.Site{Function: r.byID[g.Call], Numbers: []int{site}})
				}
				calls[k.Number()] = append(calls[k.Number()], signature.Signature{Call: g.Call, Site: uint64(site), Vals: vals})
			}
		}
		x.Loops = []bysite.Span{{First: 0, Last: len(x.Sites) - 1}}
		x.Calls = func(rank int) iter.Seq2[int, *signature.Signature] {
			if calls[rank] == nil {
				return nil
			}
			return func(yield func(int, *signature.Signature) bool) {
				for n := range calls[rank] {
					if s := &calls[rank][n]; !yield(place[callPlace{s.Call, int(s.Site)}], s) {
						return
					}
				}
			}
		}
	}
	outer, place, err := r.Frames()
	if err != nil {
		t.Fatal(err)
	}
	b, err := bysite.Encode(threads, r.Ranks(), sections.InOrder(outer, place))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bySite lays a file out by sites.
func bySite(t testing.TB, file []byte) (section, out []byte) {
	t.Helper()
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	if section, _, err = r.WithCallsBySite(codedBySite(t, r)); err != nil {
		t.Fatal(err)
	}
	return section, exchanged(t, file, section)
}

func exchanged(t testing.TB, file, section []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	err := container.Exchange(&b, bytes.NewReader(file), int64(len(file)), container.BySite, section, container.Signatures, container.Classes, container.Columns)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fileOf(t testing.TB, c *sections.Content) []byte {
	t.Helper()
	file, err := sections.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// What a file with its calls by site says is what it said before: calls, times, series, stacks and where bytes go.
func TestBySite(t *testing.T) {
	withTimes := sample(t)
	withTimes.Series = sampleSeries(t)
	for name, c := range map[string]*sections.Content{"sample": sample(t), "times": withTimes, "latest": latest(t), "stacks": withStacks(t)} {
		file := fileOf(t, c)
		_, out := bySite(t, file)
		a, err := open(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := open(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		one, err := dump(a)
		if err != nil {
			t.Fatal(err)
		}
		if two, err := dump(b); err != nil || one != two {
			t.Errorf("%s: other calls; %v", name, err)
		}
		by, size, err := b.BySite()
		if err != nil || !by || size == 0 {
			t.Errorf("%s: by site %v, %d bytes; %v", name, by, size, err)
		}
		if by, _, _ := a.BySite(); by {
			t.Errorf("%s: by site", name)
		}
		if _, err := b.Costs(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bytes that say other calls aren't taken for those of the file; a file that has both is refused.
func TestOtherCalls(t *testing.T) {
	file := encoded(t)
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	coded := codedBySite(t, r)
	wrong := 0
	for i := range coded {
		bad := bytes.Clone(coded)
		bad[i] ^= 2
		if _, _, err := r.WithCallsBySite(bad); err != nil {
			wrong++
		}
	}
	if wrong < len(coded)*9/10 { // what doesn't matter may be another: how a number is coded
		t.Errorf("%d of %d changes were found", wrong, len(coded))
	}
	section, _ := bySite(t, file)
	var both bytes.Buffer
	if err := container.Exchange(&both, bytes.NewReader(file), int64(len(file)), container.BySite, section); err != nil {
		t.Fatal(err)
	}
	if _, err := open(both.Bytes()); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "by-site") {
		t.Errorf("both: %v", err)
	}
}

// FuzzBySite takes any section in place of the one that a file has.
func FuzzBySite(f *testing.F) {
	file := encoded(f)
	section, _ := bySite(f, file)
	f.Add(section)
	f.Add(wire.AppendUvarint(nil, 1<<40))
	f.Add([]byte{0x80, 1, 0, 0, 1, 0}) // ranks without threads
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := open(exchanged(t, file, data))
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("error %v", err)
			}
			return
		}
		look(t, r)
	})
}
