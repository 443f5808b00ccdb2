package otf2

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
)

// Kinds of ids that a location may map to global ids.
const (
	mapString    = 0
	mapRegion    = 3
	mapGroup     = 4
	mapComm      = 6
	mapParameter = 7
	mapInterrupt = 11
	mapWindow    = 8
	mapSource    = 9
	mapContext   = 10
	mapFile      = 12
	mapHandle    = 13
	mapMetric    = 5
	mapKinds     = 15
	denseMapping = 0
)

// A local is a location's mapping of its ids to global ids, and its clock offsets.
type local struct {
	maps    [mapKinds]map[uint64]uint64
	offsets []offset
}

// An offset is the difference to add to a location's clock at one time.
type offset struct {
	time  uint64
	value int64
}

func (a *Archive) local(location uint64) (*local, error) {
	l := &local{}
	c, err := openChunked(a.file(location, "def"), a.defChunk)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer c.close()
	for {
		id, ok, err := c.next()
		if err != nil || !ok {
			return l, err
		}
		n := c.length()
		r := byteReader{b: c.take(n), order: c.order}
		if c.err != nil {
			return nil, c.wrong(c.err)
		}
		switch id {
		case LocalDefMappingTable:
			l.mapping(&r)
		case LocalDefClockOffset:
			x := offset{r.full64(), r.i64()}
			if n := len(l.offsets); n > 0 && l.offsets[n-1].time >= x.time {
				r.fail(errors.New("clocks were compared twice at the same time, or backwards"))
			}
			l.offsets = append(l.offsets, x)
		}
		if r.err != nil {
			return nil, c.wrong(fmt.Errorf("definition %d: %w", id, r.err))
		}
	}
}

func (l *local) mapping(r *byteReader) {
	kind, n, mode := r.u8(), r.u64(), r.u8()
	if kind >= mapKinds {
		return // ids of a kind that is newer than this package
	}
	if n > uint64(len(r.b)) {
		r.fail(errShort)
		return
	}
	m := make(map[uint64]uint64, n)
	for i := uint64(0); i < n && r.err == nil; i++ {
		from := i
		if mode != denseMapping {
			from = r.u64()
		}
		m[from] = r.u64()
	}
	l.maps[kind] = m
}

// global maps a location's id to the global id.
func (l *local) global(kind int, id uint32) uint32 {
	if id == UndefinedRef || l.maps[kind] == nil {
		return id
	}
	if to, ok := l.maps[kind][uint64(id)]; ok {
		return uint32(to)
	}
	return id
}

// correct converts a time of the location's clock to the common clock. Between two offsets it interpolates linearly;
// outside it extends the nearest line, as OTF2's readers do.
func (l *local) correct(t uint64) uint64 {
	switch n := len(l.offsets); {
	case n == 0:
		return t
	case n == 1:
		return t // one comparison makes no interval, and OTF2's readers leave times alone
	default:
		i := 0
		for i < n-2 && t > l.offsets[i+1].time {
			i++
		}
		a, b := l.offsets[i], l.offsets[i+1]
		slope := float64(b.value-a.value) / float64(b.time-a.time)
		return t + uint64(a.value+int64(math.RoundToEven(slope*(float64(t)-float64(a.time)))))
	}
}
