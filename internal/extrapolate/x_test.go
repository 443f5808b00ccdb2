package extrapolate

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace"
)

func TestTry(t *testing.T) {
	for _, what := range strings.Fields(os.Getenv("TRY")) { // st2d:4,9,16:256
		f := strings.Split(what, ":")
		var list []*trace.Reader
		for _, n := range strings.Split(f[1], ",") {
			r, err := trace.Open("/tmp/ex/" + f[0] + "-" + n + ".spoor")
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		begin := time.Now()
		m, err := Learn(list)
		if err != nil {
			fmt.Println(what, err)
			continue
		}
		learnt := time.Since(begin)
		if os.Getenv("SHAPE") != "" {
			var show func(n *node, in string)
			show = func(n *node, in string) {
				if n.place >= 0 {
					fmt.Printf("%s%s mask %b groups %d fields %v\n", in, m.m.text(n), n.mask, len(m.m.groups[n.number]), m.m.places[n.place].fields)
				} else {
					fmt.Printf("%sloop mask %b const %v\n", in, n.mask, m.m.constant[n.number])
					for _, c := range n.children {
						show(c, in+"  ")
					}
				}
			}
			show(m.m.shape.root, "")
		}
		truth, err := trace.Open("/tmp/ex/" + f[0] + "-" + f[2] + ".spoor")
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.At(truth.Ranks())
		if err != nil {
			fmt.Println(what, "learnt in", learnt, "slots", len(m.m.slots), "REFUSED", err)
			continue
		}
		b, err := sections.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := trace.NewReader(bytes.NewReader(b), int64(len(b)), "got")
		if err != nil {
			t.Fatal(err)
		}
		wrong, calls := 0, 0
		for rank := range truth.Ranks() {
			a, _ := truth.Rank(rank)
			b, _ := got.Rank(rank)
			var other [][]int64
			for _, v := range b.Signatures(0) {
				other = append(other, slices.Clone(v))
			}
			i := 0
			for n, v := range a.Signatures(0) {
				if i >= len(other) || !slices.Equal(v, other[i]) {
					if wrong++; wrong < 3 {
						c, _ := a.Called(n)
						fmt.Println("rank", rank, "call", i, c.Func.Name, v)
						if i < len(other) {
							fmt.Println("   told", other[i])
						}
					}
				}
				i++
			}
			if i != len(other) {
				fmt.Println("rank", rank, "calls", i, "told", len(other))
				wrong++
			}
			calls += i
		}
		fmt.Println(what, "learnt in", learnt, "made in", time.Since(begin)-learnt, "slots", len(m.m.slots), "EXACT but", wrong, "of", calls, len(b), "bytes")
	}
}
