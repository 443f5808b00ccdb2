package series

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/test/need"
)

func samples(r *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	kind := r.IntN(5)
	for i := range list {
		switch kind {
		case 0:
			list[i] = 10 + r.NormFloat64()
		case 1:
			list[i] = math.Ldexp(r.NormFloat64(), r.IntN(80)-40)
		case 2:
			list[i] = float64(i) * 0.25
		case 3:
			list[i] = []float64{0, 1, -1, 64, 1e300, 5e-324, 1e-300}[r.IntN(7)]
		default:
			list[i] = math.Sin(float64(i) / 9)
		}
	}
	return list
}

// Values come back within the accuracy.
func TestAccuracy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		list := samples(r, rapid.IntRange(0, 100).Draw(t, "n"))
		exp := rapid.IntRange(-20, 3).Draw(t, "exponent")
		data := appendDoubles(nil, list, exp)
		got := make([]float64, len(list))
		n, err := decodeDoubles(got, data, exp)
		if err != nil || n != len(data) {
			t.Fatalf("%d of %d bytes, error %v", n, len(data), err)
		}
		for i, v := range list {
			// Beyond 2^-60 of the greatest in the block, doubles end.
			most := 0.0
			for _, x := range list[i/4*4 : min(i/4*4+4, len(list))] {
				most = max(most, math.Abs(x))
			}
			if d := math.Abs(v - got[i]); d > math.Ldexp(1, exp)+most*0x1p-50 {
				t.Fatalf("value %d: %g became %g, accuracy 2^%d", i, v, got[i], exp)
			}
		}
	})
}

const program = `
#include <stdio.h>
#include <stdlib.h>
#include <zfp.h>

/* Reads "c" or "d", exponent, count and then doubles or a stream; writes the other. */
int main(int argc, char **argv)
{
	double tolerance = atof(argv[2]);
	size_t n = (size_t)atol(argv[3]), room = 64 + 32 * n;
	double *values = calloc(n, 8);
	unsigned char *data = calloc(room, 1);
	zfp_field *field = zfp_field_1d(values, zfp_type_double, n);
	zfp_stream *zfp = zfp_stream_open(NULL);
	zfp_stream_set_accuracy(zfp, tolerance);
	bitstream *stream = stream_open(data, room);
	zfp_stream_set_bit_stream(zfp, stream);
	zfp_stream_rewind(zfp);
	if (argv[1][0] == 'c') {
		if (fread(values, 8, n, stdin) != n)
			return 2;
		size_t size = zfp_compress(zfp, field);
		fwrite(data, 1, size, stdout);
	} else {
		fread(data, 1, room, stdin);
		if (!zfp_decompress(zfp, field))
			return 3;
		fwrite(values, 8, n, stdout);
	}
	return 0;
}
`

// libzfp writes the same bytes, and reads ours as we do.
func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	source, tool := filepath.Join(dir, "zfp.c"), filepath.Join(dir, "zfp")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-w", "-o", tool, source, "-lzfp").CombinedOutput(); err != nil {
		need.Absent(t, "no libzfp to compare with: %v\n%s", err, out)
	}
	run := func(mode string, exp, n int, in []byte) []byte {
		cmd := exec.Command(tool, mode, fmt.Sprintf("%g", math.Ldexp(1.3, exp)), fmt.Sprint(n))
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		exp, n := r.IntN(20)-16, 1+r.IntN(300)
		list := samples(r, n)
		var in bytes.Buffer
		binary.Write(&in, binary.LittleEndian, list)
		if zfpAccuracy(math.Ldexp(1.3, exp)) != exp {
			t.Fatal("accuracy")
		}
		ours := appendDoubles(nil, list, exp)
		theirs := run("c", exp, n, in.Bytes())
		if !bytes.Equal(ours, theirs) {
			t.Fatalf("case %d: %d values within 2^%d: %d bytes, libzfp makes %d", i, n, exp, len(ours), len(theirs))
		}
		got := make([]float64, n)
		if _, err := decodeDoubles(got, theirs, exp); err != nil {
			t.Fatal(err)
		}
		back := make([]float64, n)
		if err := binary.Read(bytes.NewReader(run("d", exp, n, ours)), binary.LittleEndian, back); err != nil {
			t.Fatal(err)
		}
		for k := range got {
			if math.Float64bits(got[k]) != math.Float64bits(back[k]) {
				t.Fatalf("case %d: value %d is %g, libzfp says %g", i, k, got[k], back[k])
			}
		}
	}
}

// Anything is some values or an error.
func FuzzDecodeZFP(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	f.Add(appendDoubles(nil, samples(r, 30), -3), int8(-3))
	f.Fuzz(func(t *testing.T, data []byte, exp int8) {
		dst := make([]float64, 30)
		n, err := decodeDoubles(dst, data, int(exp))
		if err == nil && (n < 0 || n > len(data)) {
			t.Fatalf("%d of %d bytes", n, len(data))
		}
	})
}
