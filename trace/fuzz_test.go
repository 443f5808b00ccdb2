package trace

import (
	"bytes"
	"errors"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/mpi"
)

// look goes through a trace as a tool would, without following every call of
// what may claim to be billions.
func look(t *testing.T, r *Reader) {
	if r.Ranks() > 1000 {
		return
	}
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			return
		}
		for s := range k.Streams() {
			n := 0
			for c, err := range k.Calls(s) {
				if err != nil {
					break
				}
				if len(c.Text()) == 0 || len(c.AppendJSON(nil)) == 0 {
					t.Fatal("a call without text")
				}
				if n++; n > 300 {
					break
				}
			}
			n = 0
			for range k.TimedCalls(s) {
				if n++; n > 300 {
					break
				}
			}
			if n := k.CallCount(s); n > 0 {
				k.Call(s, n-1)
			}
			k.Structure(s).Children()
		}
	}
	r.Code()
	Check(r)
}

// unpacked is how sections stand uncompressed.
func unpacked(_ int, raw []byte) ([]byte, byte) { return raw, container.CodecRaw }

// FuzzSections replaces one section of a valid file, with all checksums right,
// so that decoders meet what no checksum protects them from.
func FuzzSections(f *testing.F) {
	raw, err := sections.RawSections(sample(f), wire.EstimatePackedSize, true)
	if err != nil {
		f.Fatal(err)
	}
	s := sampleSeries(f)
	var b bytes.Buffer
	if err := s.CopyTo(&b); err != nil {
		f.Fatal(err)
	}
	raw[container.SectionSeries] = append(b.Bytes(), s.EncodeIndex()...)
	raw[container.SectionCode] = sections.AppendCode(sampleCode(), sampleCalls(), nil)
	raw[container.SectionWhen] = sections.AppendWhen(nil, sampleWhen())
	raw[container.SectionSyntheticLoops] = withDrawn(f, nil).AppendSyntheticLoops(nil)
	for id := container.SectionMeta; id < container.SectionCount; id++ {
		f.Add(byte(id-container.SectionMeta), raw[id])
	}
	stacked, err := sections.RawSections(withStacks(f), wire.EstimatePackedSize, true)
	if err != nil {
		f.Fatal(err)
	}
	const ofStacked = 1 << 7
	for _, id := range []int{container.SectionSites, container.SectionSignatures, container.SectionClasses, container.SectionLeafTimes} {
		f.Add(ofStacked|byte(id-container.SectionMeta), stacked[id])
	}
	f.Fuzz(func(t *testing.T, id byte, data []byte) {
		file := raw
		if id&ofStacked != 0 {
			file = stacked
		}
		file[container.SectionMeta+int(id&^ofStacked)%(container.SectionCount-container.SectionMeta)] = data
		whole := container.Assemble(file, unpacked, nil)
		r, err := open(whole)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("error %v", err)
			}
			return
		}
		look(t, r)
	})
}

// FuzzReader takes whole files.
func FuzzReader(f *testing.F) {
	file := encoded(f)
	f.Add(file)
	c := sample(f)
	c.NoTimes = true
	timeless, err := sections.EncodeFile(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(timeless)
	f.Add(file[:len(file)/2])
	f.Add([]byte(container.FileMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := open(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("error %v", err)
			}
			return
		}
		look(t, r)
	})
}

// FuzzSums takes the values of one call, which may claim to leave out what can't be
// filled in.
func FuzzSums(f *testing.F) {
	call, _ := mpi.CallNamed("MPI_Alltoallv")
	function := sections.FunctionOf(call)
	bytesOf := func(vals ...int64) (b []byte) {
		for _, v := range vals {
			b = wire.AppendVarint(b, v)
		}
		return b
	}
	f.Add(bytesOf(0, 1<<8|1, 0, 2, 5, 6, -8, 1, 0, 0x209, 2<<8|1, 0, 2, 5, 6, 2, 0, 5, 0x209, 257))
	f.Add(bytesOf(0, 1<<8|1, 0, -4, -4, 0x209, 2<<8|1, 0, 3, 1, 2, 3, -9, 1, 0, 0, 0x209, 257))
	f.Add(bytesOf(0, 1<<8|1, 0, 2, 5, 6, -1<<63, 1, 0, 0x209, 257))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data, "values")
		var vals []int64
		for r.RemainingLen() > 0 && r.Err() == nil {
			vals = append(vals, r.Varint())
		}
		width := len(vals)
		sections.RestoreDisplacements(&function, vals)
		spans, err := sections.SpansOf(&function, nil, vals)
		var c *Call
		if err == nil {
			c, err = readCall(&function, spans, vals, &lookup{}, 0)
		}
		if len(vals) != width {
			t.Fatalf("%d values became %d", width, len(vals))
		}
		if err != nil {
			return
		}
		for _, p := range c.Params {
			if p.In.Type == TypeArray && (p.In.Num < ArrayStatusesIgnore || p.In.Num >= 0 && int(p.In.Num) != len(p.In.Elems)) {
				t.Fatalf("%s has length %d and %d elements", p.Name(), p.In.Num, len(p.In.Elems))
			}
		}
	})
}
