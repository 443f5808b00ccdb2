package mpi

// TypeSize returns how many bytes of data a predefined datatype has, by its
// number in the standard ABI, as MPI_Type_size says it where int has 32 bits,
// long 64 and long double 16 bytes, and Fortran's default kinds are four bytes
// wide. It is false for MPI_DATATYPE_NULL and for numbers that mean nothing.
func TypeSize(handle int64) (int64, bool) {
	n, ok := typeSizes[handle]
	return n, ok
}

var typeSizes = map[int64]int64{
	0x201: 8, 0x202: 8, 0x203: 8, 0x207: 1, // AINT, COUNT, OFFSET, PACKED
	0x208: 2, 0x209: 4, 0x20a: 8, 0x20b: 8, // SHORT, INT, LONG, LONG_LONG
	0x20c: 2, 0x20d: 4, 0x20e: 8, 0x20f: 8, // UNSIGNED_…
	0x210: 4, 0x212: 8, 0x213: 8, // FLOAT, C_FLOAT_COMPLEX, CXX_FLOAT_COMPLEX
	0x214: 8, 0x216: 16, 0x217: 16, // DOUBLE, C_DOUBLE_COMPLEX, CXX_DOUBLE_COMPLEX
	0x218: 4, 0x219: 4, 0x21a: 4, 0x21b: 8, 0x21c: 8, 0x21d: 16, // Fortran: LOGICAL, INTEGER, REAL, COMPLEX, DOUBLE_…
	0x220: 16, 0x224: 32, 0x225: 32, // LONG_DOUBLE and its complex types
	character: 1, formerCharacter: 1,
	0x228: 8, 0x229: 12, 0x22a: 12, 0x22b: 8, 0x22c: 6, 0x22d: 20, // FLOAT_INT … LONG_DOUBLE_INT
	0x230: 8, 0x231: 16, 0x232: 8, // 2REAL, 2DOUBLE_PRECISION, 2INTEGER
	0x238: 1, 0x239: 1, 0x23c: 4, // C_BOOL, CXX_BOOL, WCHAR
	0x240: 1, 0x241: 1, 0x243: 1, 0x244: 1, 0x245: 1, 0x247: 1, // 1 byte
	0x248: 2, 0x249: 2, 0x250: 4, 0x251: 4, 0x258: 8, 0x259: 8, // INT16_T … UINT64_T
	0x2c0: 1, 0x2c1: 1, 0x2c8: 2, 0x2c9: 2, 0x2ca: 2, // LOGICAL1, INTEGER1, …2
	0x2d0: 4, 0x2d1: 4, 0x2d2: 4, 0x2d3: 4, // LOGICAL4, INTEGER4, REAL4, COMPLEX4
	0x2d8: 8, 0x2d9: 8, 0x2da: 8, 0x2db: 8, // LOGICAL8, INTEGER8, REAL8, COMPLEX8
	0x2e0: 16, 0x2e1: 16, 0x2e2: 16, 0x2e3: 16, 0x2eb: 32, // …16, COMPLEX32
	0x3c0: 0, 0x3c1: 0, 0x3c2: 16, 0x3c3: 32, 0x3c4: 2, 0x3c5: 2, // LB, UB, 2COMPLEX, 2DOUBLE_COMPLEX, MPIX_…
}
