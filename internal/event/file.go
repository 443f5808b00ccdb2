package event

import (
	"encoding/binary"
	"fmt"
	"os"
)

// ReadFile opens the ring that a process left in a file.
func ReadFile(path string) (*Ring, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	r, err := Parse(bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Parse opens a ring in its file form.
func Parse(file []byte) (*Ring, error) {
	words := make([]uint64, len(file)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(file[i*8:])
	}
	return Open(words)
}
