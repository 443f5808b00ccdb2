package oracle

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// called collects, by MPI, the functions that programs were seen to call.
var called = struct {
	sync.Mutex
	by map[string]map[string]bool
}{by: map[string]map[string]bool{}}

// noteCalls adds what the logs of a run hold.
func noteCalls(m *mpis.MPI, list []*Process) {
	called.Lock()
	defer called.Unlock()
	if called.by[m.Name] == nil {
		called.by[m.Name] = map[string]bool{}
	}
	for _, p := range list {
		for _, calls := range p.Threads {
			for _, c := range calls {
				if !(fortranLibrary(c.Library) && helper(c)) {
					called.by[m.Name][c.Name] = true
				}
			}
		}
	}
}

// Every function of a library is called by some program of test/mpi, or the
// list there says why not.
func TestCoverage(t *testing.T) {
	if len(called.by) == 0 {
		t.Skip("run with TestOracleAlone, whose logs this counts")
	}
	if os.Getenv("SPOOR_TEST_MPIS") != "" {
		t.Skip("the list of exceptions is of certain versions of the MPIs")
	}
	excepted := readExceptions(t)
	for _, m := range mpis.Need(t) {
		exported, err := m.Exported()
		if err != nil {
			t.Fatal(err)
		}
		var missing []string
		known, done, extensions := 0, 0, 0
		for _, name := range exported {
			entry, ok := mpi.CallNamed(name)
			switch {
			case !ok:
				extensions++
			case entry.WrapperClass == mpi.WrapperAbsent:
			case name == "MPI_Abort": // by crash_abort.c alone, which is not for these tests
			case called.by[m.Name][name]:
				known++
				done++
			default:
				known++
				if excepted[name] == "" && excepted[m.Name+" "+name] == "" {
					missing = append(missing, name)
				}
			}
		}
		t.Logf("%s: %d of %d functions called, %d excepted; %d exported functions are extensions",
			m.Name, done, known, known-done-len(missing), extensions)
		if len(missing) > 0 {
			t.Errorf("%s: neither called nor in exceptions.txt: %s", m.Name, strings.Join(missing, " "))
		}
		for key := range excepted {
			if name := strings.TrimPrefix(key, m.Name+" "); called.by[m.Name][name] && (key == name || strings.HasPrefix(key, m.Name)) {
				t.Errorf("%s: %s is in exceptions.txt, but is called", m.Name, name)
			}
		}
	}
}

// readExceptions reads test/mpi/exceptions.txt: lines of a name, or an MPI and
// a name, and the reason.
func readExceptions(t *testing.T) map[string]string {
	t.Helper()
	list := map[string]string{}
	f, err := os.Open(filepath.Join("..", "mpi", "exceptions.txt"))
	if os.IsNotExist(err) {
		return list
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		n := 1
		if !strings.HasPrefix(words[0], "MPI_") {
			n = 2
		}
		if len(words) <= n {
			t.Fatalf("exceptions.txt: no reason in %q", s.Text())
		}
		list[strings.Join(words[:n], " ")] = strings.Join(words[n:], " ")
	}
	return list
}
