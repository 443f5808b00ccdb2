package handles

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// FuzzHandles replaces one section of a valid file, with all checksums right, and asks what handles stand for
// in whatever calls that has.
func FuzzHandles(f *testing.F) {
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		reused(5)(r)
		split(r, 10, tracktest.World, 0, 1024, 0, []int{0, 1})
		split(r, 11, 1024, int64(r.Rank), 1025, 0, []int{r.Rank})
	})
	s, err := merge.MergeAll(tracks, len(tracks))
	if err != nil {
		f.Fatal(err)
	}
	c, err := s.Content(nil)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := sections.RawSections(c, wire.EstimatePackedSize, true)
	if err != nil {
		f.Fatal(err)
	}
	for id := container.SectionMeta; id < container.SectionCount; id++ {
		f.Add(byte(id-container.SectionMeta), raw[id])
	}
	unpacked := func(_ int, raw []byte) ([]byte, byte) { return raw, container.CodecRaw }
	f.Fuzz(func(t *testing.T, id byte, data []byte) {
		file := raw
		file[container.SectionMeta+int(id)%(container.SectionCount-container.SectionMeta)] = data
		whole := container.Assemble(file, unpacked, nil)
		r, err := trace.ReadBytes(whole, "test.spoor")
		if err == nil && r.Ranks() <= 1000 {
			ask(TableOf(r), r)
		}
	})
}

// ask asks all that there is to ask, of a few calls of each rank.
func ask(t *Table, r *trace.Reader) {
	if c, err := t.Comms(); err == nil {
		for _, comm := range c.List() {
			comm.Members()
			comm.PeerWorldRank(0)
		}
	}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return
		}
		x, err := t.Rank(k)
		if err != nil {
			return
		}
		names, err := t.Names(k)
		if err != nil {
			return
		}
		for stream := range k.Streams() {
			n := 0
			for c, err := range k.Calls(stream) {
				if n++; err != nil || n > 100 {
					break
				}
				names.EachNamed(c, func(string, string) {})
				x.GroupOccurrences(stream, c)
				x.CommOf(c, stream, c.Index)
				uses(c, func(name key) {
					x.at(name, stream, c.Index)
					x.Neighbours(name.id, stream, c.Index)
					x.TypeSize(name.id, stream, c.Index)
				})
			}
		}
	}
}
