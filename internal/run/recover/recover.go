// Package recover makes traces from the records of traced processes: their process directories with rings and
// checkpoints. It is used after a crash, and for programs whose processes have no common end at which they could
// merge.
//
// It reads a process through package capture, which interprets the records.
package recover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// A Process is the readable content of a process directory.
type Process struct {
	Dir     string
	Context *capture.Context // nil: the context file can't be read
	Track   *track.Track     // nil: no records could be read
	// Damage is the reason why there is no track, or why reading stopped.
	Damage error
}

// ProcessDirs lists the process directories at path: path itself, or those in it, in scratch folders in it, and where
// its links lead. Each is listed once, even if several links lead to it.
func ProcessDirs(path string) ([]string, error) {
	if isProcess(path) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		dir := filepath.Join(path, e.Name())
		if strings.HasPrefix(e.Name(), hidden) {
			continue
		}
		if e.Type()&os.ModeSymlink != 0 {
			// A link to the directory of a process that still runs.
			if real, err := filepath.EvalSymlinks(dir); err == nil && isProcess(real) {
				list = append(list, real)
			} else if err == nil {
				// A link to the folder with all ranks of a node.
				more, err := below(real)
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
			}
		} else if e.IsDir() && isProcess(dir) {
			list = append(list, dir)
		} else if e.IsDir() && strings.HasPrefix(e.Name(), "spoor-") {
			// The scratch folder of a job.
			more, err := below(dir)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// below lists the process directories right below path.
func below(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	var list []string
	for _, e := range entries {
		if dir := filepath.Join(path, e.Name()); e.IsDir() && !strings.HasPrefix(e.Name(), hidden) && isProcess(dir) {
			list = append(list, dir)
		}
	}
	return list, err
}

// A RemoteFolder is the target of a link: a folder with ranks' records on another node.
type RemoteFolder struct{ Link, Folder string }

// Host returns the host of the folder, from the link's name.
func (l RemoteFolder) Host() string { return launch.HostOfSiblingRanksName(l.Link) }

// UnreachableFolders lists a directory's links whose targets don't exist here: they are on other nodes.
func UnreachableFolders(path string) []RemoteFolder {
	var list []RemoteFolder
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		link := filepath.Join(path, e.Name())
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		if _, err := os.Stat(link); errors.Is(err, fs.ErrNotExist) {
			if target, err := os.Readlink(link); err == nil {
				list = append(list, RemoteFolder{e.Name(), target})
			}
		}
	}
	return list
}

// contextName is the file in a process directory that identifies the process.
const contextName = "context"

// isProcess reports whether dir is a process directory: it has one of the files that the shim makes first.
func isProcess(dir string) bool {
	return slices.ContainsFunc([]string{contextName, "ring.0"}, func(name string) bool {
		st, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && st.Mode().IsRegular()
	})
}

// IsMarkedComplete reports whether a process marked its records as complete at its end.
func IsMarkedComplete(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "finished"))
	return err == nil
}

// ReadProcesses reads process directories, several at a time; it calls step after each. The result is in the order of
// dirs.
func ReadProcesses(dirs []string, step func()) []*Process {
	list := make([]*Process, len(dirs))
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(len(dirs), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				p := readProcess(dirs[i])
				mu.Lock()
				list[i] = p
				step()
				mu.Unlock()
			}
		})
	}
	for i := range dirs {
		next <- i
	}
	close(next)
	wg.Wait()
	return list
}

func readProcess(dir string) *Process {
	p := &Process{Dir: dir}
	rest, err := capture.RecoverRecording(dir)
	if err == nil {
		p.Context, p.Track, p.Damage = rest.Context, rest.Track, rest.Damage
		return p
	}
	p.Damage = err
	if errors.Is(err, fs.ErrNotExist) && !hasContext(dir) {
		p.Damage = fmt.Errorf("%s: the process died before it began to record", dir)
	} else {
		p.Context, _ = capture.ReadContext(dir)
	}
	return p
}

func hasContext(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, contextName))
	return err == nil
}

// A World is the processes of one MPI_COMM_WORLD.
type World struct {
	Ranks     int
	Spawned   bool // started by MPI_Comm_spawn
	Processes []*Process
}

// GroupIntoWorlds groups processes into worlds. Worlds that were not spawned come first. Processes without a context
// belong to none.
//
// Records don't name their world, so start times separate processes of equal rank in worlds of equal size.
func GroupIntoWorlds(list []*Process) []*World {
	type key struct {
		spawned, alone bool
		ranks, nth     int
	}
	sorted := slices.DeleteFunc(slices.Clone(list), func(p *Process) bool { return p.Context == nil })
	slices.SortStableFunc(sorted, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.Context.StartNs, b.Context.StartNs), cmp.Compare(a.Context.PID, b.Context.PID))
	})
	worlds := make(map[key]*World)
	seen := make(map[key]map[int]int)
	var order []*World
	for _, p := range sorted {
		k := key{spawned: p.Context.Spawned, alone: p.Context.SessionsOnly, ranks: p.Context.Ranks}
		kin := once.GetOrMake(seen, k, func() map[int]int { return make(map[int]int) })
		k.nth = kin[p.Context.Rank]
		kin[p.Context.Rank]++
		w := once.GetOrAppend(worlds, k, &order, func() *World { return &World{Ranks: max(1, p.Context.Ranks), Spawned: p.Context.Spawned} })
		w.Ranks = max(w.Ranks, p.Context.Rank+1)
		w.Processes = append(w.Processes, p)
	}
	for _, w := range order {
		slices.SortFunc(w.Processes, func(a, b *Process) int { return cmp.Compare(a.Context.Rank, b.Context.Rank) })
	}
	slices.SortStableFunc(order, func(a, b *World) int { return cmp.Compare(b2i(a.Spawned), b2i(b.Spawned)) })
	return order
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Missing lists the ranks of the world without a process directory.
func (w *World) Missing() []int {
	have := make(map[int]bool, len(w.Processes))
	for _, p := range w.Processes {
		have[p.Context.Rank] = true
	}
	var list []int
	for r := range w.Ranks {
		if !have[r] {
			list = append(list, r)
		}
	}
	return list
}

// An Ending is how one rank of a recovered trace ended.
type Ending struct {
	Rank     int        `json:"rank"`
	EndState string     `json:"end"` // sums.EndFinished, sums.EndUnfinished or sums.EndMissing
	Host     string     `json:"host,omitempty"`
	PID      int        `json:"pid,omitempty"`
	Calls    int64      `json:"calls"`
	SpanNs   int64      `json:"span_ns"`
	Threads  []LastCall `json:"threads"`
	Damage   string     `json:"damage,omitempty"`
	Alive    bool       `json:"alive,omitempty"` // the process still runs, and may have made more calls since
	Process  *Process   `json:"-"`
}

// A LastCall is the last call of a thread.
type LastCall struct {
	Thread      int         `json:"thread"`
	NotReturned bool        `json:"inside"` // the call has not returned
	Call        *trace.Call `json:"call"`
}

// Endings returns how each rank of the world ended, according to its trace.
func (w *World) Endings(r *trace.Reader) ([]Ending, error) {
	list := make([]Ending, r.Ranks())
	for i := range list {
		list[i] = Ending{Rank: i, EndState: sums.EndMissing, Threads: []LastCall{}}
	}
	for _, p := range w.Processes {
		e := &list[p.Context.Rank]
		e.Process, e.Host, e.PID = p, p.Context.Host, p.Context.PID
		e.Alive = IsAlive(p.Context)
		if p.Damage != nil {
			e.Damage = p.Damage.Error()
		}
		if p.Track == nil {
			continue
		}
		k, err := r.Rank(p.Context.Rank)
		if err != nil {
			return nil, err
		}
		about, err := k.Process()
		if err != nil {
			return nil, err
		}
		e.EndState, e.Calls, e.SpanNs = sums.DescribeEnd(about), about.Calls, about.FirstThreadNs
		if e.Threads, err = lastCalls(k); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func lastCalls(k *trace.Rank) ([]LastCall, error) {
	list := []LastCall{}
	for stream := range k.Streams() {
		n := k.CallCount(stream)
		if n == 0 {
			continue
		}
		c, err := k.Call(stream, n-1)
		if err != nil {
			return nil, err
		}
		list = append(list, LastCall{Thread: stream, NotReturned: c.Return == trace.ReturnCodeNeverReturned, Call: c})
	}
	return list, nil
}
