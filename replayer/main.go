// Spoor-replay is one rank of a replay: it loads the MPI of its launcher and
// makes the calls that the trace holds for it. `spoor replay` starts it.
//
// It has no MPI of its own and needs none to be built. All that can be done
// without cgo is in internal/reproduce/replay.
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
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/trace"
)

func init() {
	// Some MPIs must be initialised by the process's first thread, and each stream of a rank must stay on one thread.
	runtime.LockOSThread()
}

func main() {
	if err := run(); err != nil {
		fail(err)
	}
}

var failed sync.Mutex

// fail ends the rank, and with it the job: other threads may be in calls that never end.
func fail(err error) {
	failed.Lock() // never unlocked: only the first error is printed
	fmt.Fprintln(os.Stderr, "spoor-replay:", err)
	os.Exit(1)
}

func run() error {
	// Fewer garbage collections disturb the replay less. They cost little memory: a rank's allocations are small.
	debug.SetGCPercent(400)
	cfg, err := replay.ReadConfig()
	if err != nil {
		return err
	}
	h, err := newHost(cfg.Libraries)
	if err != nil {
		return err
	}
	if len(cfg.ProbedFunctions) > 0 {
		return probe(h, cfg.ProbedFunctions)
	}
	if cfg.Calibrate != nil {
		return calibration(h, cfg.Calibrate)
	}
	// The rank's number is the launcher's, as calls before MPI_Init need it. Without a launcher there is only rank 0.
	number := max(0, launch.ReadJobPlace(os.Getenv).Rank)
	r, err := trace.Open(cfg.Trace)
	if err != nil {
		return err
	}
	defer r.Close()
	k, err := r.Rank(number)
	if err != nil {
		return err
	}
	o := cfg.Options
	if cfg.DeriveReceives {
		if o.Order, err = replay.NewEventOrder(r, number); err != nil {
			return err
		}
	}
	p, err := replay.NewProcess(r, k, h, h.flavour, o)
	if err != nil {
		return err
	}
	unseen, err := p.LacksInitCall()
	if err != nil {
		return err
	}
	if unseen {
		if err := h.initialise(); err != nil {
			return err
		}
	}
	replay.Watchdog{Timeout: cfg.Timeout, Dir: cfg.ReportFolder}.Start(p, h)
	streams := p.Streams()
	ended := make(chan struct{})
	for _, s := range streams[1:] {
		go func() {
			runtime.LockOSThread()
			if s.Run() != nil {
				fail(p.Err()) // p.Err is the first error of all streams
			}
			ended <- struct{}{}
		}()
	}
	if streams[0].Run() != nil {
		return p.Err()
	}
	for range streams[1:] {
		<-ended
	}
	return p.WriteReport(cfg.ReportFolder)
}

// probe prints in JSON the MPI's flavour, and which of the functions it lacks.
func probe(h *host, names []string) error {
	p := replay.ProbeResult{Flavour: h.flavour.String(), Missing: []string{}}
	for _, name := range names {
		if h.has(name) == nil {
			p.Missing = append(p.Missing, name)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(p)
}
