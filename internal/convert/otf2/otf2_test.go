package otf2

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Integers are as long as their first byte says, in the byte order of the chunk.
func TestIntegers(t *testing.T) {
	for _, x := range []struct {
		b           []byte
		most        int
		little, big uint64
		err         error
	}{
		{[]byte{0}, 4, 0, 0, nil},
		{[]byte{1, 7}, 4, 7, 7, nil},
		{[]byte{2, 1, 2}, 4, 0x201, 0x102, nil},
		{[]byte{8, 1, 0, 0, 0, 0, 0, 0, 2}, 8, 2<<56 | 1, 1<<56 | 2, nil},
		{[]byte{255}, 4, 1<<32 - 1, 1<<32 - 1, nil},
		{[]byte{255}, 8, 1<<64 - 1, 1<<64 - 1, nil},
		{[]byte{5, 1, 2, 3, 4, 5}, 4, 0, 0, errLength},
		{[]byte{3, 1, 2}, 4, 0, 0, errShort},
		{nil, 8, 0, 0, errShort},
	} {
		for order, want := range map[binary.ByteOrder]uint64{binary.LittleEndian: x.little, binary.BigEndian: x.big} {
			r := byteReader{b: x.b, order: order}
			if got := r.compressed(x.most); got != want || !errors.Is(r.err, x.err) {
				t.Errorf("%v, %v: %d, %v, want %d, %v", x.b, order, got, r.err, want, x.err)
			}
		}
	}
}

// Clocks are corrected by the line through the two comparisons around, or the next two.
func TestClock(t *testing.T) {
	two := []offset{{100, 10}, {200, 30}}
	three := append(two, offset{300, 0})
	for _, x := range []struct {
		offsets []offset
		at      uint64
		want    uint64
	}{
		{nil, 5, 5}, {two[:1], 5, 5}, {two, 100, 110}, {two, 150, 170}, {two, 200, 230}, {two, 250, 290}, {two, 50, 50},
		{three, 200, 230}, {three, 250, 265}, {three, 300, 300},
	} {
		l := local{offsets: x.offsets}
		if got := l.correct(x.at); got != x.want {
			t.Errorf("%v at %d: %d, want %d", x.offsets, x.at, got, x.want)
		}
	}
}

// events reads a file of chunks as the events of location 0.
func events(t *testing.T, chunk int64, file []byte) (list []Event, err error) {
	t.Helper()
	a := &Archive{base: t.TempDir(), eventChunk: chunk, defChunk: chunk}
	if err := os.WriteFile(filepath.Join(a.base, "0.evt"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	es, err := a.Events(0)
	if err != nil {
		return nil, err
	}
	defer es.Close()
	for es.Next() {
		list = append(list, es.Event)
	}
	return list, es.Err()
}

// begin is the head of a chunk.
func begin(order byte) []byte {
	return append([]byte{BufferChunkHeader, order}, make([]byte, ChunkHeaderBytes-2)...)
}

// Events go on in the next chunk; records that are not known are passed over.
func TestEvents(t *testing.T) {
	const size = 64
	first := append(begin(LittleEndian), BufferTimestamp, 9, 0, 0, 0, 0, 0, 0, 0, EvEnter, 1, 3, 200, 2, 77, 78, BufferEndOfChunk)
	first = append(first, make([]byte, size-len(first))...)
	file := append(first, append(begin(BigEndian), BufferTimestamp, 0, 0, 0, 0, 0, 0, 0, 12, EvMpiSend, 7, 1, 5, 255, 2, 1, 2, 0, BufferEndOfFile, BufferEndOfBuffer)...)
	list, err := events(t, size, file)
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	if e := list[0]; e.ID != EvEnter || e.TimeTicks != 9 || e.Values[0] != 3 {
		t.Errorf("%+v", e)
	}
	if e := list[2]; e.ID != EvMpiSend || e.TimeTicks != 12 || e.Values[0] != 5 || e.Values[1] != UndefinedRef || e.Values[2] != 0x102 || e.Values[3] != 0 {
		t.Errorf("%+v", e)
	}
	for want, file := range map[string][]byte{
		"goes backwards":         append(begin(LittleEndian), BufferTimestamp, 9, 0, 0, 0, 0, 0, 0, 0, BufferTimestamp, 8, 0, 0, 0, 0, 0, 0, 0, BufferEndOfFile, BufferEndOfBuffer),
		"middle of a record":     append(begin(LittleEndian), EvMpiSend, 200, 1),
		"a chunk is missing":     first,
		"no chunk begins":        append(first, make([]byte, ChunkHeaderBytes)...),
		"neither little nor big": begin(7),
	} {
		if _, err := events(t, size, file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "0.evt: byte") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What OTF2's own library writes has the fields that the table of records says: in records.py's archive 1, 2, 3, …
func TestRecords(t *testing.T) {
	a, err := OpenArchive("testdata/records")
	if err != nil {
		t.Fatal(err)
	}
	es, err := a.Events(0)
	if err != nil {
		t.Fatal(err)
	}
	defer es.Close()
	seen := make(map[uint8]bool)
	for es.Next() {
		e := &es.Event
		name, layout := RecordLayouts[e.ID].Name, strings.TrimPrefix(RecordLayouts[e.ID].Layout, "-")
		if seen[e.ID] = true; name == "" {
			t.Errorf("record %d is in no row", e.ID)
		}
		for i := range len(layout) {
			if e.ID != EvParameterString && e.ID != EvProgramBegin && e.Values[i] != uint64(i+1) {
				t.Errorf("%s: %v, want 1, 2, 3, …", name, e.Values[:len(layout)])
				break
			}
		}
		if len(layout) < len(e.Values) && e.Values[len(layout)] != 0 {
			t.Errorf("%s has more than its layout: %v", name, e.Values)
		}
	}
	if err := es.Err(); err != nil {
		t.Fatal(err)
	}
	for id, x := range RecordLayouts {
		if len(strings.TrimPrefix(x.Layout, "-")) > len(Event{}.Values) {
			t.Errorf("%s: more fields than an event has room for", x.Name)
		}
		if x.Name != "" && !seen[uint8(id)] && id != EvMetric {
			t.Errorf("%s isn't in the archive", x.Name)
		}
	}
}
