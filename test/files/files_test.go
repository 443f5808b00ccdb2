// Package files holds what spoor records of files against what the kernel was asked: strace
// tells the system calls of the same program, without spoor.
package files

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/files"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

const ranks = 2

// onEach tests with each MPI, side by side, each in a folder of its own. The standard's ABI is left out: programs are compiled for
// one MPI here, and what they do with files is not MPI's.
func onEach(t *testing.T, test func(t *testing.T, m *mpis.MPI, dir string)) {
	for _, m := range mpis.Need(t) {
		if m.Standard() {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			test(t, m, t.TempDir())
		})
	}
}

// Every call, parameter, result and errno of a program's system calls is what strace saw.
func TestSystemCalls(t *testing.T) {
	asStraceSaw(t, "calls.c", 100, "-Wno-unused-result")
}

// So are those that the library of Fortran makes for a program's input and output.
func TestFortran(t *testing.T) {
	asStraceSaw(t, "fort.f90", 100)
}

func asStraceSaw(t *testing.T, source string, least int, flags ...string) {
	strace := need.Command(t, "strace")
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		program := filepath.Join(dir, "program")
		if err := m.Compile(program, filepath.Join("testdata", source), flags...); err != nil {
			t.Fatal(err)
		}
		plain, traced := filepath.Join(dir, "plain"), filepath.Join(dir, "traced")
		for _, d := range []string{plain, traced} {
			for rank := range ranks {
				if err := os.MkdirAll(filepath.Join(d, fmt.Sprint("rank", rank)), 0o777); err != nil {
					t.Fatal(err)
				}
			}
		}
		env := []string{"UCX_MEM_MMAP_HOOK_MODE=none"} // else its own functions stand in place of mmap
		job := mpis.Job{MPI: m, Dir: plain, Temp: dir, Env: env}
		without := job.Baseline(t.Logf, m.Command(ranks, strace, "-ff", "-o", "out", "-X", "raw", "-s", "0", "-v", program)...)
		if without.Err != nil {
			t.Skipf("strace may not trace here: %v", without)
		}
		job.Dir = traced
		with := job.Run(append([]string{tool, "run", "-q", "--io", "-o", filepath.Join(dir, "app.spoor")}, m.Command(ranks, program)...)...)
		if with.Err != nil {
			t.Fatal(with)
		}
		if lines(with.Stdout) != lines(without.Stdout) {
			t.Errorf("with spoor the program prints %q, without %q", with.Stdout, without.Stdout)
		}
		sameTree(t, plain, traced)
		r, err := trace.Open(filepath.Join(dir, "app.spoor"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		asked := readStrace(t, plain)
		for rank := range ranks {
			got := recorded(t, r, rank)
			want := asked[rank]
			if len(want) < least {
				t.Fatalf("rank %d: strace saw %d calls", rank, len(want))
			}
			for i := range max(len(got), len(want)) {
				g, w := "nothing", "nothing"
				if i < len(got) {
					g = got[i]
				}
				if i < len(want) {
					w = want[i]
				}
				if g != w {
					t.Errorf("rank %d, call %d: recorded %s, the kernel was asked %s", rank, i, g, w)
					break
				}
			}
			t.Logf("rank %d: %d calls are the same", rank, len(want))
		}
	})
}

func lines(s string) string {
	list := strings.Split(s, "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// sameTree compares the files that two runs left.
func sameTree(t *testing.T, a, b string) {
	t.Helper()
	read := func(root string) map[string]string {
		files := make(map[string]string)
		for rank := range ranks {
			dir := filepath.Join(root, fmt.Sprintf("rank%d", rank))
			list, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				text, err := os.ReadFile(filepath.Join(dir, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				info, _ := e.Info()
				files[fmt.Sprintf("%d/%s %s", rank, e.Name(), info.Mode())] = string(text)
			}
		}
		return files
	}
	x, y := read(a), read(b)
	if len(x) == 0 || len(x) != len(y) {
		t.Errorf("%d files without spoor, %d with", len(x), len(y))
	}
	for name, text := range x {
		if y[name] != text {
			t.Errorf("%s differs: %d bytes without spoor, %d with", name, len(text), len(y[name]))
		}
	}
}

// A pool names descriptors as both sides can: by the lowest free number.
type pool struct {
	names map[string]int
}

func (p *pool) open(raw string) string {
	used := make(map[int]bool)
	for r, n := range p.names {
		if r != raw {
			used[n] = true
		}
	}
	n := 0
	for used[n] {
		n++
	}
	p.names[raw] = n
	return fmt.Sprint("fd", n)
}

func (p *pool) name(raw string) string {
	if n, ok := p.names[raw]; ok {
		return fmt.Sprint("fd", n)
	}
	return raw
}

var (
	call      = regexp.MustCompile(`^(\w+)\((.*)\)\s+= (-?\w+)(?: (E[A-Z0-9]+))?`)
	piece     = regexp.MustCompile(`\{iov_base=[^{}]*iov_len=(\d+)\}`)
	structure = regexp.MustCompile(`\{[^{}]*\}`)
	chance    = regexp.MustCompile(`gfortrantmp\w+(", \d+)?`) // mkostemp's flags are not recorded
)

// What is asked of the kernel that is no matter of files.
var inner = []string{"brk", "futex", "umask", "getrandom", "getpid", "rt_sigprocmask", "rt_sigaction"}

// readStrace reads what strace wrote of each rank, between the marks.
func readStrace(t *testing.T, dir string) map[int][]string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(dir, "out.*"))
	if err != nil || len(out) == 0 {
		t.Fatal("strace wrote nothing: ", err)
	}
	all := make(map[int][]string)
	for _, file := range out {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rank, inside := -1, false
		fds := &pool{names: make(map[string]int)}
		own := ""                       // a descriptor of the C library's: its messages in other languages
		memory := make(map[string]bool) // without a file of the program's
		for line := range strings.Lines(string(text)) {
			m := call.FindStringSubmatch(line)
			switch {
			case m == nil:
				continue
			case strings.Contains(m[2], `"mark"`):
				inside = !inside
				continue
			case m[1] == "chdir" && strings.HasPrefix(m[2], `"rank`) && m[3] == "0":
				rank, _ = strconv.Atoi(strings.Trim(m[2][5:], `"`))
				continue
			case m[1] == "mmap" && isAnonymous(split(m[2])[3]):
				memory[m[3]] = true
				continue
			case !inside || slices.Contains(inner, m[1]) || m[1] == "munmap" && memory[split(m[2])[0]]:
				continue
			case m[1] == "openat" && strings.Contains(m[2], `"/usr/`):
				own = m[3]
				continue
			case own != "" && own != "-1" && slices.Contains(split(m[2]), own):
				switch m[1] {
				case "close":
					own = ""
				case "mmap":
					memory[m[3]] = true
				}
				continue
			}
			if s := asked(m[1], m[2], m[3], m[4], fds); s != "" {
				all[rank] = append(all[rank], s)
			}
		}
	}
	return all
}

// system says what of a system call is compared.
type system struct {
	drop  []int // parameters
	fds   []int // descriptors among them
	opens bool
}

var systems = map[string]system{
	"openat": {fds: []int{0}, opens: true}, "creat": {opens: true}, "close": {fds: []int{0}}, "dup": {fds: []int{0}, opens: true},
	// what number a descriptor is to get is nothing to a trace
	"dup2": {fds: []int{0}, drop: []int{1}, opens: true}, "dup3": {fds: []int{0}, drop: []int{1}, opens: true},
	"fcntl": {fds: []int{0}, opens: true}, "copy_file_range": {fds: []int{0, 2}}, "sendfile": {fds: []int{0, 1}},
	"newfstatat": {fds: []int{0}, drop: []int{2}}, "statx": {fds: []int{0}, drop: []int{2, 4}},
	"renameat": {fds: []int{0, 2}}, "linkat": {fds: []int{0, 2}}, "symlinkat": {fds: []int{1}}, "mmap": {fds: []int{4}, drop: []int{0}},
	"lseek": {fds: []int{0}}, "ftruncate": {fds: []int{0}}, "mkdir": {}, "access": {}, "rename": {}, "link": {}, "symlink": {}, "unlink": {}, "rmdir": {}, "chdir": {}, "truncate": {},
	"readlink": {drop: []int{1}}, "readlinkat": {fds: []int{0}, drop: []int{2}}, "msync": {drop: []int{0}}, "munmap": {drop: []int{0}},
	"read": {fds: []int{0}, drop: []int{1}}, "write": {fds: []int{0}, drop: []int{1}}, "pread64": {fds: []int{0}, drop: []int{1}}, "pwrite64": {fds: []int{0}, drop: []int{1}},
}

// asked is a system call in the form that both sides have.
func asked(name, args, result, failed string, fds *pool) string {
	args = piece.ReplaceAllString(args, "$1")
	args = structure.ReplaceAllString(args, "{}")
	list := split(args)
	if name == "faccessat2" {
		name = "faccessat"
	}
	sys, known := systems[name]
	if !known { // a descriptor comes first
		sys.fds = []int{0}
	}
	var parts []string
	for i, a := range list {
		if slices.Contains(sys.drop, i) {
			continue
		}
		if k := strings.Index(a, "] => ["); k >= 0 {
			a = a[:k+1]
		}
		switch {
		case slices.Contains(sys.fds, i):
			a = fds.name(a)
		case a == "NULL":
			a = "-1"
		case name == "copy_file_range" || name == "sendfile":
			a = strings.Trim(a, "[]")
		}
		if n, err := strconv.ParseInt(a, 0, 64); err == nil {
			a = strconv.FormatInt(n, 10)
		}
		parts = append(parts, a)
	}
	switch {
	case failed != "":
		result += " " + failed
	case sys.opens:
		result = fds.open(result)
	case name == "close":
		delete(fds.names, list[0])
	case name == "mmap":
		result = "memory"
	}
	return chance.ReplaceAllString(fmt.Sprintf("%s(%s) = %s", name, strings.Join(parts, ", "), result), "*")
}

func isAnonymous(flags string) bool {
	n, err := strconv.ParseInt(flags, 0, 64)
	return err == nil && n&0x20 != 0
}

// split takes parameters apart at commas that are not inside of anything.
func split(args string) (list []string) {
	depth, from, quoted := 0, 0, false
	for i := 0; i <= len(args); i++ {
		switch {
		case i == len(args) || args[i] == ',' && depth == 0 && !quoted:
			list = append(list, strings.TrimSpace(args[from:i]))
			from = i + 1
		case args[i] == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("[{(", args[i]) >= 0:
			depth++
		case strings.IndexByte("]})", args[i]) >= 0:
			depth--
		}
	}
	return list
}

// Functions that are another system call, or have other parameters.
var functions = map[string]struct {
	system string
	params []string
}{
	"open": {"openat", []string{"-100", "path", "flags", "mode"}}, "remove": {"unlink", nil}, "mkstemp": {"openat", []string{"-100", "template", "194", "384"}}, "pread": {"pread64", nil}, "pwrite": {"pwrite64", nil},
	"posix_fadvise": {"fadvise64", nil}, "dup2": {"dup2", []string{"fd"}}, "dup3": {"dup3", []string{"fd", "flags"}},
	"stat": {"newfstatat", []string{"-100", "path", "0"}}, "lstat": {"newfstatat", []string{"-100", "path", "256"}},
	"fstat": {"newfstatat", []string{"fd", `""`, "4096"}}, "fstatat": {"newfstatat", []string{"dir", "path", "flags"}},
	"statx": {"statx", []string{"dir", "path", "mask"}}, "msync": {"msync", []string{"length", "flags"}}, "munmap": {"munmap", []string{"length"}},
}

// recorded is what spoor has of a rank, between the marks.
func recorded(t *testing.T, r *trace.Reader, rank int) (list []string) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if p := c.Param("path"); p != nil && p.In.Text == "mark" {
			inside = !inside
			continue
		}
		if !inside {
			continue
		}
		system := c.Name()
		var params []string
		for i := range c.Params {
			if c.Params[i].In.Type != trace.TypeNone {
				params = append(params, c.Params[i].Name())
			}
		}
		if f, ok := functions[c.Name()]; ok {
			system = f.system
			if f.params != nil {
				params = f.params
			}
		}
		var parts []string
		for _, name := range params {
			p := c.Param(name)
			if p == nil {
				parts = append(parts, name)
				continue
			}
			if name == "mode" && system == "openat" && c.Param("flags").In.Num&0x40 == 0 {
				continue
			}
			parts = append(parts, value(&p.In))
		}
		result := value(&c.Result)
		switch {
		case c.Return != 0:
			result = "-1 " + c.ReturnName()
		case c.Func.ReturnKind == mpi.KindMappedFileAddress:
			result = "memory"
		}
		list = append(list, chance.ReplaceAllString(fmt.Sprintf("%s(%s) = %s", system, strings.Join(parts, ", "), result), "*"))
	}
	return list
}

func value(v *trace.Value) string {
	switch v.Type {
	case trace.TypeString:
		return strconv.Quote(v.Text)
	case trace.TypeArray:
		var list []string
		for i := range v.Elems {
			list = append(list, value(&v.Elems[i]))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case trace.TypeHandle:
		switch n, own := v.CreatedHandleNumber(); {
		case own:
			return fmt.Sprint("fd", n)
		case v.Num == 1:
			return "-1"
		case v.Num == 2:
			return "-100"
		}
	}
	return strconv.FormatInt(v.Num, 10)
}

// Calls of streams and directories are as the program says that it made them.
func TestStreams(t *testing.T) {
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		for _, flags := range [][]string{{"-D_FORTIFY_SOURCE=2", "-O2"}, {"-D_FILE_OFFSET_BITS=64"}} {
			with := runTraced(t, m, dir, "streams", append(flags, "-Wno-unused-result", "-w")...)
			r, err := trace.Open(filepath.Join(dir, "streams.spoor"))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			k, err := r.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(with.Stdout), "\n")
			inside, n := false, 0
			for c, err := range k.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				if p := c.Param("path"); p != nil && p.In.Text == "mark" {
					inside = !inside
				} else if inside {
					if n == len(want) || c.Text() != want[n] {
						t.Fatalf("call %d is recorded as %s, it was %s", n, c.Text(), append(want, "none")[n])
					}
					n++
				}
			}
			if n != len(want) || n < 40 {
				t.Errorf("%d calls are recorded, the program made %d", n, len(want))
			}
		}
	})
}

// runTraced compiles a program, runs it with and without spoor, and compares what it prints and returns.
func runTraced(t *testing.T, m *mpis.MPI, dir, name string, flags ...string) mpis.Result {
	t.Helper()
	tool := mpis.NeedSpoor(t)
	program := filepath.Join(dir, name)
	if err := m.Compile(program, filepath.Join("testdata", name+".c"), flags...); err != nil {
		t.Fatal(err)
	}
	var results []mpis.Result
	for _, before := range [][]string{nil, {tool, "run", "-q", "-f", "--io", "-o", program + ".spoor"}} {
		work, err := os.MkdirTemp(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		job := mpis.Job{MPI: m, Dir: work, Temp: dir}
		n := ranks
		if name == "behaviour" {
			n = 1
		}
		r := job.Run(append(before, m.Command(n, program)...)...)
		if r.Err != nil {
			t.Fatalf("%v: %v", before, r)
		}
		results = append(results, r)
	}
	if results[0].Stdout != results[1].Stdout {
		t.Errorf("without spoor:\n%s\nwith:\n%s", results[0].Stdout, results[1].Stdout)
	}
	return results[1]
}

// A program with children, threads, signal handlers, jumps and full disks does what it does without.
func TestBehaviour(t *testing.T) {
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		with := runTraced(t, m, dir, "behaviour", "-Wno-unused-result")
		for _, line := range []string{"early 6", "4108, errno 77", "child 7, size 4101", "vfork 0, size 15, still 2", "spawn 0, size 8, system 3",
			"handlers wrote all: 1", "jumped, 10", "full -1, No space left on device", "threads 8192000"} {
			if !strings.Contains(with.Stdout, line+"\n") {
				t.Errorf("no line %q in\n%s", line, with.Stdout)
			}
		}
		r, err := trace.Open(filepath.Join(dir, "behaviour.spoor"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := trace.Check(r); err != nil {
			t.Error(err)
		}
		k, err := r.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		writes, child := 0, 0
		for stream := range k.Streams() {
			for c, err := range k.Calls(stream) {
				if err != nil {
					t.Fatal(err)
				}
				if p := c.Param("path"); p != nil && (p.In.Text == "vforked" || p.In.Text == "not/there") && c.Name() == "open" {
					child++
				}
				if c.Name() == "pwrite" && c.Param("count").In.Num == 512 {
					writes++
				}
			}
		}
		if child > 0 {
			t.Errorf("%d calls of children are recorded", child)
		}
		if writes != 8000 {
			t.Errorf("%d of 8000 writes of threads are recorded", writes)
		}
	})
}

// What spoor says of a benchmark's files is what the benchmark does, MPI-IO's own calls included.
func TestBenchmark(t *testing.T) {
	const n, count, several = 8192, 6, 3
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		if err := m.Compile(filepath.Join(dir, "ior"), mpis.Root("test", "apps", "ior.c")); err != nil {
			t.Fatal(err)
		}
		job := mpis.Job{MPI: m, Dir: dir}
		line := append([]string{tool, "run", "-q", "--io=all", "-o", "ior.spoor"}, m.Command(several, "./ior", "-n", strconv.Itoa(n), "-i", strconv.Itoa(count))...)
		if r := job.Run(line...); r.Err != nil || !strings.Contains(r.Stdout, "3 ranks wrote and read 6 transfers of 8192 bytes") {
			t.Fatal(r)
		}
		r, err := trace.Open(filepath.Join(dir, "ior.spoor"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := trace.Check(r); err != nil {
			t.Error(err)
		}
		rep, err := files.Analyse(r, files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]*files.File)
		for _, f := range rep.Files {
			found[f.Path] = f // MPI-IO has files of its own, some with names like these
		}
		for _, c := range []struct {
			name                string
			sequential, strided uint64 // in all
		}{{"ior.shared", 2 * several * count, 0}, {"ior.strided", 2 * several, 2 * several * (count - 1)}} {
			f := found[c.name]
			if f == nil {
				t.Fatalf("no %s among %d files", c.name, len(found))
			}
			u := &f.Total
			if u.Writes.Calls != several*count || u.Reads.Bytes != several*count*n || u.Opens != 2*several || u.SequentialAccesses != c.sequential ||
				u.StridedAccesses != c.strided || u.RandomAccesses != 0 || u.UnalignedAccesses != 0 || u.MPILibraryCalls != 0 || f.SharingRanks() != several || u.FurthestByte != several*count*n {
				t.Errorf("%s, shared by %d: %+v", c.name, f.SharingRanks(), *u)
			}
		}
		// each rank writes its own, and reads that of the next
		var wrote, read uint64
		for name, f := range found {
			if strings.HasPrefix(name, "ior.each.") {
				wrote += f.Total.Writes.Calls
				read += f.Total.Reads.Calls
			}
		}
		if wrote != several*count || read != several*count {
			t.Errorf("files of each rank: %d writes, %d reads", wrote, read)
		}
		f := found["ior.collective"]
		if f == nil {
			t.Fatal("nothing of the file that MPI-IO wrote")
		}
		sameFiles(t, m, dir, several, n, count)
		if u := &f.Total; u.MPILibraryCalls == 0 || u.Writes.Bytes < several*count*n || u.Reads.Bytes == 0 {
			t.Errorf("MPI-IO's own calls: %+v", *u)
		}
	})
}
