package wire

import (
	"bytes"
	"slices"
	"sync"
)

// Who writes a trace chooses between forms of its sections, and packs some of them for each
// choice and once more for the file. What was mixed last is remembered, so that it is mixed once.
const (
	remembered     = 16
	rememberedUpTo = 1 << 13 // bytes
)

var recent struct {
	sync.Mutex
	list [remembered]mixed
	next int
}

type mixed struct {
	data, frame []byte
	smaller     bool
}

// mixedBefore returns what became of data, if they were mixed lately.
func mixedBefore(data []byte) (frame []byte, smaller, ok bool) {
	recent.Lock()
	defer recent.Unlock()
	for i := range recent.list {
		if m := &recent.list[i]; m.data != nil && bytes.Equal(m.data, data) {
			return slices.Clone(m.frame), m.smaller, true
		}
	}
	return nil, false, false
}

func remember(data, frame []byte, smaller bool) {
	recent.Lock()
	defer recent.Unlock()
	recent.list[recent.next%remembered] = mixed{slices.Clone(data), slices.Clone(frame), smaller}
	recent.next++
}
