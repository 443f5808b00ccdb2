// Package mpi is the MPI standard as data: every C function with its
// parameters, directions and lengths (calls.txt), every named constant and
// predefined handle with its value in each family of MPI libraries
// (constants.txt), and how such a family lays out what crosses the C boundary.
//
// Traces hold the numbers of the MPI 5.0 standard ABI; the tables here
// translate to and from them. Wrappers are generated from the same tables, so
// that the recorder, the readers and the tests agree by construction.
//
// The package doesn't call MPI, reads no trace and needs neither an MPI nor cgo.
package mpi

import (
	_ "embed"
	"sync"
)

// The tables as strings: their words need no memory of their own.
var (
	//go:embed calls.txt
	callsText string
	//go:embed constants.txt
	constantsText string
)

var callTable = sync.OnceValue(func() *stanzas { return findStanzas(callsText) })

// Calls returns all functions in the order of their ids. The caller must not
// change them.
func Calls() []*Call { return callTable().all() }

// Lookup finds a function by its C name.
func Lookup(name string) (*Call, bool) {
	t := callTable()
	id, ok := t.names()[name]
	if !ok {
		return nil, false
	}
	return t.call(id), true
}

// ByID finds a function by its id; ids come out of records and traces, so
// unknown ones are to be expected.
func ByID(id uint16) (*Call, bool) {
	c := callTable().call(id)
	return c, c != nil
}
