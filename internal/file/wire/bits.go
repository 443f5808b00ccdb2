package wire

// A BitWriter writes bits, least significant first, behind what is in Out.
type BitWriter struct {
	Out  []byte
	word uint64
	n    uint
}

// Put writes the low n bits of v, which has no others.
func (w *BitWriter) Put(v uint64, n uint) {
	if n > 32 {
		w.Put(v&(1<<32-1), 32)
		v, n = v>>32, n-32
	}
	w.word |= v << w.n
	w.n += n
	for w.n >= 8 {
		w.Out = append(w.Out, byte(w.word))
		w.word >>= 8
		w.n -= 8
	}
}

// Finish fills up the last byte and returns all.
func (w *BitWriter) Finish() []byte {
	if w.n > 0 {
		w.Out = append(w.Out, byte(w.word))
		w.word, w.n = 0, 0
	}
	return w.Out
}

// A BitReader reads what a BitWriter wrote, and zeros behind the end.
type BitReader struct {
	In   []byte
	at   int
	word uint64
	n    uint
}

// Get reads n bits.
func (r *BitReader) Get(n uint) uint64 {
	if n > 32 {
		low := r.Get(32)
		return low | r.Get(n-32)<<32
	}
	for r.n < n {
		if r.at < len(r.In) {
			r.word |= uint64(r.In[r.at]) << r.n
		}
		r.at++
		r.n += 8
	}
	v := r.word & (1<<n - 1)
	r.word >>= n
	r.n -= n
	return v
}

// Used returns how many bytes were read.
func (r *BitReader) Used() int { return r.at }

// Over reports whether it was read beyond the end.
func (r *BitReader) Over() bool { return r.at > len(r.In) }
