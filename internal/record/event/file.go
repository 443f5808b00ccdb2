package event

import (
	"encoding/binary"
	"fmt"
	"os"
)

// ReadRing reads the ring of a thread from a file.
func ReadRing(path string) (*Ring, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	r, err := ParseRing(bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// RingHead returns how many bytes of records were written to the ring in a file. If it grows, the thread is running.
func RingHead(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("ring: %w", err)
	}
	defer f.Close()
	var word [8]byte
	if _, err := f.ReadAt(word[:], OffHead); err != nil {
		return 0, fmt.Errorf("ring: %s: %w", path, err)
	}
	return binary.LittleEndian.Uint64(word[:]), nil
}

// ParseRing returns the ring in the content of a file.
func ParseRing(file []byte) (*Ring, error) {
	words := make([]uint64, len(file)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(file[i*8:])
	}
	return OpenRing(words)
}
