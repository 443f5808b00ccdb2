// Spoor-replay is one rank of a replay: it loads the MPI of its launcher and
// makes the calls that the trace holds for it. `spoor replay` starts it.
//
// It has no MPI of its own and needs none to be built. All that can be done
// without cgo is in internal/replay.
package main

/*
#cgo CFLAGS: -O2 -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror
#cgo LDFLAGS: -L${SRCDIR}/../bin -Wl,--disable-new-dtags -Wl,-rpath,$ORIGIN -Wl,-rpath,$ORIGIN/../lib/spoor -Wl,--no-as-needed -lspoor-replay -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"spoor/internal/replay"
	"spoor/trace"
)

func init() {
	// MPI may want to be called by the thread that runs main, and threads of a
	// rank must stay themselves.
	runtime.LockOSThread()
}

func main() {
	var o replay.Options
	path := flag.String("trace", "", "the trace")
	libraries := flag.String("library", "", "MPI libraries to try, separated by commas")
	reports := flag.String("reports", "", "directory for what the ranks report")
	timeout := flag.Duration("timeout", 0, "give up after so long in one call; 0: never")
	flag.Float64Var(&o.Speed, "speed", 1, "of the program's own computing")
	flag.BoolVar(&o.NoCompute, "no-compute", false, "don't wait between calls")
	flag.StringVar(&o.Files, "files", "", "directory for files of MPI-IO")
	flag.Parse()
	if err := run(*path, strings.Split(*libraries, ","), *reports, replay.Watch{Timeout: *timeout, Dir: *reports}, o); err != nil {
		fmt.Fprintln(os.Stderr, "spoor-replay:", err)
		os.Exit(1)
	}
}

func run(path string, libraries []string, reports string, w replay.Watch, o replay.Options) error {
	// What a rank allocates while it runs is small and short-lived.
	debug.SetGCPercent(400)
	number, err := rankNumber()
	if err != nil {
		return err
	}
	r, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	k, err := r.Rank(number)
	if err != nil {
		return err
	}
	h, err := newHost(libraries)
	if err != nil {
		return err
	}
	p, err := replay.New(r, k, h, h.flavour, o)
	if err != nil {
		return err
	}
	w.Start(p, h)
	streams := p.Streams()
	ended := make(chan struct{})
	for _, s := range streams[1:] {
		go func() {
			runtime.LockOSThread()
			_ = s.Run() // Err has it
			ended <- struct{}{}
		}()
	}
	_ = streams[0].Run()
	for range streams[1:] {
		<-ended
	}
	if err := p.Err(); err != nil {
		return err
	}
	return p.WriteReport(reports)
}

// rankNumber is what the launcher says: calls may come before MPI_Init.
func rankNumber() (int, error) {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "FLUX_TASK_RANK", "ALPS_APP_PE"} {
		if v := os.Getenv(name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil {
				return 0, fmt.Errorf("%s=%s: %w", name, v, err)
			}
			return n, nil
		}
	}
	return 0, nil // a singleton
}
