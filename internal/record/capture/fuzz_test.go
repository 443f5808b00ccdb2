package capture

import (
	"encoding/binary"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// Whatever the records say, reading them ends, without a panic and without
// believing lengths; what was read makes a track.
func FuzzDrain(f *testing.F) {
	for _, l := range loops {
		s := newSynth(f, 0, 1<<14)
		for i := range 3 {
			l.body(s, i)
		}
		head, err := s.w.Ring.Head()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.w.Bytes()[event.HeaderPageSize : event.HeaderPageSize+head])
	}
	p := newProgram(f, 1, 1<<16)
	for i := range 60 {
		p.step(0, i)
	}
	head, err := p.threads[0].w.Ring.Head()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.threads[0].w.Bytes()[event.HeaderPageSize : event.HeaderPageSize+head])
	f.Fuzz(func(t *testing.T, records []byte) {
		w, err := event.NewWriter(0, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		file := w.Bytes()
		n := copy(file[event.HeaderPageSize:], records) &^ 7
		binary.LittleEndian.PutUint64(file[event.OffHead:], uint64(n))
		ring, err := event.ParseRing(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(testConfig())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AttachRing(0, ring); err != nil {
			t.Fatal(err)
		}
		if err := c.Drain(); err == nil && c.streams[0].pos != uint64(n) {
			t.Fatalf("stopped at %d of %d without an error", c.streams[0].pos, n)
		}
		if _, err := c.Track(track.EndCrashed); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever a checkpoint says, loading it gives an error or a state to go on
// from.
func FuzzCheckpoint(f *testing.F) {
	for _, chunk := range []bool{false, true} {
		p := newProgram(f, 2, 1<<16)
		cfg := testConfig()
		cfg.ProcessDir = f.TempDir()
		c := attach(f, cfg, p.threads...)
		for i := range 80 {
			if i == 40 {
				if err := c.Drain(); err != nil {
					f.Fatal(err)
				}
				c.checkpoints.small = 0
				c.Checkpoint()
			}
			p.step(i%2, i/2)
			p.step(0, 14) // a counter, to be a lane
		}
		p.threads[0].enter("MPI_Waitall", cat(1, 1, uint64(0x5000), 4, shared)...)
		if err := c.Drain(); err != nil {
			f.Fatal(err)
		}
		if chunk {
			f.Add(wire.AppendEncoded(nil, c.codeState), wire.AppendEncoded(nil, c.codeChunk))
		} else {
			f.Add(wire.AppendEncoded(nil, c.codeState), []byte(nil))
		}
		c.CloseCheckpoints()
	}
	f.Fuzz(func(t *testing.T, state, chunk []byte) {
		c, err := New(testConfig())
		if err != nil {
			t.Fatal(err)
		}
		if err := wire.DecodeAll(state, "state", c.codeState); err != nil {
			return
		}
		if len(chunk) > 0 && wire.DecodeAll(chunk, "chunk", c.codeChunk) != nil {
			return
		}
		threads := len(c.streams)
		if threads == 0 || threads > 8 {
			return
		}
		for i, s := range c.streams {
			s.pos = 0
			w := newSynth(t, i, 1<<14)
			w.wait(shared, 0x5000)
			w.isend(shared, 0x5000)
			w.waitall(0x5000, shared, shared)
			w.enter("MPI_Comm_free", 0x84000001)
			w.leave("MPI_Comm_free")
			w.commRank()
			if err := c.AttachRing(i, w.w.Ring); err != nil {
				t.Fatal(err)
			}
		}
		c.Drain() // an open call may end as another one
		if _, err := c.Track(track.EndCrashed); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzFrame reads times of calls that a dead process may have left damaged.
func FuzzFrame(f *testing.F) {
	l := &streamLog{}
	for i := range uint64(100) {
		l.add(callTimes{1000 + 50*i, 20, 30}, 900)
	}
	l.flush()
	f.Add(l.memory)
	v := &valueLog{}
	for i := range 100 {
		v.add(timing.AttachedNumber{CallIndex: uint64(i / 2), NameIndex: i % 3, Value: int64(i*i) << (i % 40)}, true)
	}
	v.flush()
	f.Add(v.memory)
	f.Fuzz(func(t *testing.T, b []byte) {
		damaged := &frames{memory: b}
		for entries, err := range each(damaged, parseEntries) {
			if err == nil && len(entries) > 8*len(b)*4096 {
				t.Fatalf("%d calls of %d bytes", len(entries), len(b))
			}
		}
		for values, err := range each(damaged, parseAttached) {
			if err == nil && len(values) > 8*len(b)*4096 {
				t.Fatalf("%d values in %d bytes", len(values), len(b))
			}
		}
	})
}
