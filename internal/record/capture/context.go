package capture

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// A Context is the shim's description of a process, from the file "context" in its process directory;
// shim/context.c defines it.
type Context struct {
	Flavour      mpi.Flavour
	Library      string // first line of MPI_Get_library_version
	Rank, Ranks  int
	Spawned      bool // this world was started by MPI_Comm_spawn
	SessionsOnly bool // sessions only, no MPI_COMM_WORLD
	Host         string
	PID          int
	PIDNamespace uint64 // namespace of process numbers; 0: unknown
	LockFile     string // file that the process locks while it runs, if its process number is not the host's
	Exe, Cwd     string
	Args         []string
	Layers       []string // files of other libraries that wrap MPI functions, below the recorder
	TicksPerNs   float64
	StartTicks   uint64
	StartNs      int64 // wall clock at StartTicks, ns since 1970
	Handles      []PredefinedHandle
}

// A PredefinedHandle is the value of a predefined handle in one process.
type PredefinedHandle struct {
	Kind         mpi.Kind
	ABIValue     int64
	ProcessValue uint64
}

// ReadContext reads the file "context" of a process directory.
func ReadContext(dir string) (*Context, error) {
	f, err := os.Open(filepath.Join(dir, "context"))
	if err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}
	defer f.Close()
	c, err := ParseContext(f)
	if err == nil {
		c.LockFile = filepath.Join(dir, "lives")
	}
	return c, err
}

// writtenMaps returns the copy of /proc/self/maps that the shim last wrote; nil if it wrote none.
func writtenMaps(dir string) []byte {
	text, _ := os.ReadFile(filepath.Join(dir, "maps"))
	return text
}

// ParseContext reads a context file.
func ParseContext(r io.Reader) (*Context, error) {
	c := &Context{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		key, value, _ := strings.Cut(lines.Text(), " ")
		if n == 1 {
			if key != "spoor-context" || value != "1" {
				return nil, fmt.Errorf("context: bad first line %q", lines.Text())
			}
			continue
		}
		if err := c.set(key, value); err != nil {
			return nil, fmt.Errorf("context:%d: %s: %w", n, key, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}
	if c.TicksPerNs <= 0 || c.Ranks < 0 || c.Rank < 0 {
		return nil, fmt.Errorf("context: not complete")
	}
	return c, nil
}

func (c *Context) set(key, value string) (err error) {
	switch key {
	case "flavour":
		var ok bool
		if c.Flavour, ok = mpi.FlavourNamed(value); !ok {
			return fmt.Errorf("unknown flavour %q", value)
		}
	case "library":
		c.Library, _, _ = strings.Cut(unescape(value), "\n")
	case "rank":
		c.Rank, err = strconv.Atoi(value)
	case "ranks":
		c.Ranks, err = strconv.Atoi(value)
	case "spawned":
		c.Spawned = value == "1"
	case "alone":
		c.SessionsOnly = value == "1"
	case "host":
		c.Host = unescape(value)
	case "pid":
		c.PID, err = strconv.Atoi(value)
	case "namespace":
		c.PIDNamespace, err = strconv.ParseUint(value, 10, 64)
	case "exe":
		c.Exe = unescape(value)
	case "cwd":
		c.Cwd = unescape(value)
	case "arg":
		c.Args = append(c.Args, unescape(value))
	case "layer":
		c.Layers = append(c.Layers, unescape(value))
	case "ticks-per-ns":
		c.TicksPerNs, err = strconv.ParseFloat(value, 64)
	case "start":
		ticks, ns, _ := strings.Cut(value, " ")
		if c.StartTicks, err = strconv.ParseUint(ticks, 10, 64); err == nil {
			c.StartNs, err = strconv.ParseInt(ns, 10, 64)
		}
	case "handle":
		return c.setHandle(strings.Fields(value))
	}
	return err
}

func (c *Context) setHandle(words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("want kind, number and value")
	}
	kind, ok := mpi.KindNamed(words[0])
	if !ok || !kind.IsHandle() {
		return fmt.Errorf("%q is no kind of handle", words[0])
	}
	abi, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return err
	}
	raw, err := strconv.ParseUint(words[2], 0, 64)
	if err != nil {
		return err
	}
	if abi <= 0 || abi >= mpi.FirstUserHandleID {
		return fmt.Errorf("number %d is no predefined handle", abi)
	}
	c.Handles = append(c.Handles, PredefinedHandle{kind, abi, raw})
	return nil
}

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n")

func unescape(s string) string { return escapes.Replace(s) }
