// Package mpi is the MPI standard as data. It has every C function with its
// parameters, directions and lengths (calls.txt), and every named constant and
// predefined handle with its value in each family of MPI libraries
// (constants.txt). It says how such a family lays out what crosses the C boundary.
//
// Traces hold the numbers of the MPI 5.0 standard ABI; the tables here
// translate to and from them. Wrappers are generated from the same tables, so
// that the recorder, the readers and the tests agree by construction.
//
// The package doesn't call MPI, reads no trace and needs neither an MPI nor cgo.
package mpi

import (
	_ "embed"
	"strings"
	"sync"
)

// The tables are strings, so that parsed words are slices of them without memory of their own.
var (
	//go:embed calls.txt
	callsText string
	//go:embed constants.txt
	constantsText string
	//go:embed io.txt
	filesText string
	//go:embed ioconstants.txt
	fileConstantsText string
)

// FirstPosixFileCallID is the lowest id of functions of POSIX and C; functions of MPI have lower ones.
const FirstPosixFileCallID = 2048

var (
	callTable = sync.OnceValue(func() *stanzas { return findStanzas("calls.txt", callsText, 0, 1024) })
	fileTable = sync.OnceValue(func() *stanzas { return findStanzas("io.txt", filesText, FirstPosixFileCallID, 128) })
)

// PosixFileCalls returns the functions of POSIX and C in io.txt, in the order of their ids. The caller must not change
// them.
func PosixFileCalls() []*Call { return fileTable().all() }

// Calls returns all functions of MPI in the order of their ids. The caller must not
// change them.
func Calls() []*Call { return callTable().all() }

// CallNamed returns the function of MPI, POSIX or C with this name.
func CallNamed(name string) (*Call, bool) {
	t := callTable()
	if !strings.HasPrefix(name, "MPI_") {
		t = fileTable()
	}
	id, ok := t.names()[name]
	if !ok {
		return nil, false
	}
	return t.call(id), true
}

// CallByID returns the function with this id. Ids come from records and traces, so callers must expect false for
// unknown ones.
func CallByID(id uint16) (*Call, bool) {
	t := callTable()
	if id >= FirstPosixFileCallID {
		t = fileTable()
	}
	c := t.call(id)
	return c, c != nil
}
