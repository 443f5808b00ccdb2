package replay

import "testing"

// Random content never holds a double that is slow or overflows.
func TestFill(t *testing.T) {
	g := segments{seed: 3}
	b := make([]byte, 8*1000+5)
	g.fill(b)
	seen := map[string]bool{}
	for i := 0; i+8 <= len(b); i += 8 {
		if b[i+7] != 0x3f || b[i+6]>>4 != 0xf {
			t.Fatalf("word %x", b[i:i+8])
		}
		seen[string(b[i:i+6])] = true
	}
	if len(seen) < 990 {
		t.Errorf("only %d distinct words of 1000", len(seen))
	}
}
