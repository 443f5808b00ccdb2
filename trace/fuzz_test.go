package trace

import (
	"bytes"
	"errors"
	"spoor/internal/wire"
	"testing"
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
			for range k.Timed(s) {
				if n++; n > 300 {
					break
				}
			}
			if n := k.Len(s); n > 0 {
				k.Call(s, n-1)
			}
			k.Structure(s).Children()
		}
	}
	if c, err := r.Comms(); err == nil {
		for _, comm := range c.List() {
			comm.Members()
			comm.Peer(0)
		}
	}
	Check(r)
}

// unpacked is how sections stand uncompressed.
func unpacked(_ int, raw []byte) ([]byte, byte) { return raw, codecRaw }

// FuzzSections replaces one section of a valid file, with all checksums right,
// so that decoders meet what no checksum protects them from.
func FuzzSections(f *testing.F) {
	raw, err := sections(sample(f), wire.Packed, true)
	if err != nil {
		f.Fatal(err)
	}
	s := sampleSeries(f)
	var b bytes.Buffer
	if err := s.writeTo(&b); err != nil {
		f.Fatal(err)
	}
	raw[secSeries] = b.Bytes()
	for id := secMeta; id < secEnd; id++ {
		f.Add(byte(id), raw[id])
	}
	f.Fuzz(func(t *testing.T, id byte, data []byte) {
		file := raw
		file[secMeta+int(id)%(secEnd-secMeta)] = data
		whole, err := assemble(file, unpacked, nil)
		if err != nil {
			t.Fatal(err)
		}
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
	f.Add(file[:len(file)/2])
	f.Add([]byte(magic))
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
