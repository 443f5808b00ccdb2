// Genshim writes the part of the shim that follows from package mpi: two wrappers per traced function, under its MPI_
// and its PMPI_ name, the functions that record its entry and return, and the tables of calls and flavours; and a
// header for the library that makes calls on files again. Its output is C, goes into build/ and is never committed.
//
// It writes no body of a function that needs more than forwarding and recording
// (see handwritten); these are in shim/irregular.c.
//
// Usage: genshim DIRECTORY
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: genshim DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "genshim:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := generate(mpi.Calls())
	if err != nil {
		return err
	}
	// The wrappers of file functions are in a folder of their own, as they become another library than libspoor.so.
	if files[filepath.Join("io", "calls.c")], err = fileCalls(mpi.PosixFileCalls()); err != nil {
		return err
	}
	files[filepath.Join("io", "again.h")] = reissue.FileCallsHeader()
	if err := os.MkdirAll(filepath.Join(dir, "io"), 0o777); err != nil {
		return err
	}
	for name, text := range files {
		if err := writeIfChanged(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

// writeIfChanged writes a file only if its content changes, so that make compiles only what changed.
func writeIfChanged(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return os.WriteFile(path, text, 0o666)
}

const banner = "/* Made by cmd/genshim from mpi/calls.txt and mpi/constants.txt. Do not edit. */\n"

// wrapHead is the beginning of each file with C wrappers. Recording functions have all parameters of the MPI function,
// even those that the record doesn't need, so that Fortran wrappers can call all of them in the same way.
const wrapHead = banner + `#include "calls.h"
#include "mpimem.h"
#include "put.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
`

// generate returns the texts of the generated C files by name.
func generate(calls []*mpi.Call) (map[string][]byte, error) {
	files := map[string][]byte{
		"calls.h":  header(calls),
		"tables.c": tables(calls),
	}
	// Wrappers are in one file per chapter of the standard, so that they compile in parallel.
	chapters := map[string]*bytes.Buffer{}
	for _, c := range calls {
		if c.WrapperClass == mpi.WrapperAbsent {
			continue
		}
		text, err := newCall(c).emit()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		name := chapter(c)
		if chapters[name] == nil {
			chapters[name] = bytes.NewBufferString(wrapHead)
		}
		chapters[name].WriteString(text)
	}
	for name, b := range chapters {
		files[name] = b.Bytes()
	}
	if err := fortranFiles(calls, files); err != nil {
		return nil, err
	}
	return files, nil
}

func chapter(c *mpi.Call) string {
	number, _, _ := strings.Cut(c.Section, ".")
	return fmt.Sprintf("wrap_%02s.c", number)
}

// header returns calls.h. For every function it defines macros to call the PMPI_ function (P_) and the next MPI_
// function (N_). For every traced one, it declares the functions that record a call.
func header(calls []*mpi.Call) []byte {
	var b bytes.Buffer
	b.WriteString(banner)
	b.WriteString("#ifndef SPOOR_CALLS_H\n#define SPOOR_CALLS_H\n\n#include \"shim.h\"\n\n")
	last := calls[len(calls)-1].ID
	fmt.Fprintf(&b, "#define SP_NCALLS %d\nextern const char *const sp_names[SP_NCALLS]; /* of the PMPI_ functions, by id */\n\n", last+1)
	b.WriteString("enum sp_returns { SP_RETURNS_CODE, SP_RETURNS_TIME, SP_RETURNS_VALUE };\nextern const uint8_t sp_returns[SP_NCALLS];\n\n")
	b.WriteString("/* Of the parameters of each function: name, kind, name, kind, and so on. */\n")
	b.WriteString("extern const char sp_params[];\nextern const uint32_t sp_params_at[SP_NCALLS];\nextern const uint8_t sp_params_n[SP_NCALLS];\n\n")
	b.WriteString("/* Of the first buffer that a call hands on or fills: where the parameters are, from 1 on, that\n   say how much it holds; 0: there is none. */\n")
	b.WriteString("enum sp_times { SP_ONCE, SP_TIMES_SIZE, SP_TIMES_INDEGREE, SP_TIMES_OUTDEGREE };\nstruct sp_moved {\n\tuint8_t buffer, count, type, comm, root, times;\n};\nextern const struct sp_moved sp_moved[SP_NCALLS];\n\n")
	for _, c := range calls {
		g := newCall(c)
		fmt.Fprintf(&b, "#define P_%s ((%s (*)(%s))sp_real[%d])\n", c.Name, g.returnType(), g.prototype(), c.ID)
		fmt.Fprintf(&b, "#define N_%s ((%s (*)(%s))sp_next[%d])\n", c.Name, g.returnType(), g.prototype(), c.ID)
		if c.WrapperClass != mpi.WrapperAbsent {
			fmt.Fprintf(&b, "#define SP_ID_%s %d\n#define SP_HANDLES_%s %d\n", c.Name, c.ID, c.Name, g.handles())
			fmt.Fprintf(&b, "%s;\n%s;\n", g.enterHead(), g.leaveHead())
		}
	}
	b.WriteString("\n#endif\n")
	return b.Bytes()
}

// handwritten names the functions whose wrappers are in shim/irregular.c.
var handwritten = map[string]bool{
	"MPI_Init": true, "MPI_Init_thread": true, "MPI_Finalize": true,
	"MPI_Session_init": true, "MPI_Session_finalize": true,
	"MPI_Info_set": true, "MPI_Pcontrol": true,
}
