package code

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// A probed record is what testdata/counters.c writes of a call.
type probed struct {
	Back, SP     uint64
	Outer, Inner int64
	Kept         [6]uint64
	Stack        [256]uint64
}

// value is what a counter had.
func (p *probed) value(t *testing.T, k LoopCounter, stackAt int64) uint64 {
	if k.Register == "" {
		at := k.CFAOffset - stackAt
		word := p.Stack[at/8]
		if at%8 != 0 {
			word = word>>32 | p.Stack[at/8+1]<<32
		}
		return word
	}
	i := slices.Index([]string{"rbx", "rbp", "r12", "r13", "r14", "r15"}, k.Register)
	if i < 0 {
		t.Fatalf("%s isn't kept", k.Register)
	}
	return p.Kept[i]
}

// TestCounters runs loops that say which round they are in, and compares with what their counters held.
func TestCounters(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program reads registers of x86-64")
	}
	compilers := []string{need.Command(t, "gcc")}
	for _, clang := range []string{"clang", "clang-19", "clang-16", "clang-14"} {
		if path, err := exec.LookPath(clang); err == nil {
			compilers = append(compilers, path)
		}
	}
	for _, compiler := range compilers {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			t.Run(filepath.Base(compiler)+level, func(t *testing.T) { checkCounters(t, compiler, level) })
		}
	}
}

func checkCounters(t *testing.T, compiler, level string) {
	path := filepath.Join(t.TempDir(), "counters")
	if out, err := exec.Command(compiler, level, "-o", path, filepath.Join("testdata", "counters.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(path).Output()
	if err != nil {
		t.Fatal(err)
	}
	records := make([]probed, len(out)/binary.Size(probed{}))
	if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, records); err != nil || len(records) < 100 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	m := open(t, path)
	base := uint64(0)
	for _, f := range m.Functions() {
		if f.Symbol() == "probe" {
			base = f.Start()
		}
	}
	last := make(map[uint64]*probed) // by call
	type seen struct {
		r *probed
		k LoopCounter
		v uint64
	}
	loops := make(map[[2]uint64]seen) // by function and loop
	others := 0                       // compared with what another call had
	frame, register := 0, 0           // values compared
	for i := range records {
		r := &records[i]
		back := r.Back + base
		f := m.FunctionAt(back - 1)
		b, err := f.Body()
		if err != nil {
			t.Fatal(err)
		}
		call := b.CallByReturnAddr(back)
		if call == nil {
			t.Fatalf("%s: no call", f.Symbol())
		}
		before := last[back]
		last[back] = r
		name := f.Symbol()
		for l, depth := b.Graph.InnermostLoop[call.Block], 0; l != NoIndex; l, depth = b.Graph.Loops[l].Parent, depth+1 {
			k, ok := f.LoopCounter(l, call)
			if before == nil {
				if !ok && strings.HasPrefix(name, "count_") || ok && strings.HasPrefix(name, "none_") {
					t.Errorf("%s: loop %d around: %+v", name, depth, k)
				}
			}
			if !ok || before == nil || before.SP != r.SP {
				continue
			}
			rounds := r.Inner - before.Inner
			value := r.value(t, k, m.counters.stackAt(call)) - uint64(k.AddedBeforeCall)
			at := [2]uint64{f.Start(), uint64(l)}
			// A compiler that puts rounds behind each other has others than the program.
			if x, ok := loops[at]; ok && strings.HasPrefix(name, "count_") && k.Comparable(x.k) && x.r.SP == r.SP && x.r.Back != r.Back {
				between := r.Inner - x.r.Inner
				if depth == 1 {
					between = r.Outer - x.r.Outer
				}
				if depth == 1 || r.Outer == x.r.Outer {
					others++
					if got := int32(value - x.v); int64(got) != k.Step*between {
						t.Errorf("%s: loop %d around, %+v: %d after %d rounds and another call", name, depth, k, got, between)
					}
				}
			}
			loops[at] = seen{r, k, value}
			if depth == 1 {
				rounds = r.Outer - before.Outer
			} else if r.Outer != before.Outer {
				continue // it was entered anew
			}
			if k.Register == "" {
				frame++
			} else {
				register++
			}
			from := m.counters.stackAt(call)
			if got := int32(r.value(t, k, from) - before.value(t, k, from)); int64(got) != k.Step*rounds {
				t.Errorf("%s: loop %d around, %+v: %d after %d rounds", name, depth, k, got, rounds)
			}
		}
	}
	if frame+register < 100 {
		t.Errorf("only %d words of frames and %d registers were compared", frame, register)
	}
	if others < 10 {
		t.Errorf("only %d were compared with what another call had", others)
	}
	t.Logf("%d words of frames, %d registers, %d of another call", frame, register, others)
}

// stackAt is how far the stack pointer is from the frame's address at a call.
func (c *counters) stackAt(call *Call) int64 {
	s := c.at[call.Block]
	for k := range c.ops[call.Block] {
		o := &c.ops[call.Block][k]
		if o.addr == call.Addr {
			break
		}
		c.follow(&s, o, &c.effects[call.Block][k])
	}
	return s[c.conv.StackPointer].at
}

// TestCountersOfArm64 looks for counters alone.
func TestCountersOfArm64(t *testing.T) {
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
		t.Run(level, func(t *testing.T) {
			m := open(t, compile(t, "aarch64-linux-gnu-gcc", "counters.c", level))
			calls := 0
			for _, f := range m.Functions() {
				b, err := f.Body()
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Calls {
					if call := &b.Calls[i]; call.CalleeSymbol == "probe" && b.IsReachable(call) {
						calls++
						for l := b.Graph.InnermostLoop[call.Block]; l != NoIndex; l = b.Graph.Loops[l].Parent {
							k, ok := f.LoopCounter(l, call)
							if !ok && strings.HasPrefix(f.Symbol(), "count_") || ok && strings.HasPrefix(f.Symbol(), "none_") {
								t.Errorf("%s at %#x: %+v", f.Symbol(), call.Addr, k)
							}
						}
					}
				}
			}
			if calls < 12 {
				t.Errorf("only %d calls", calls)
			}
		})
	}
}
