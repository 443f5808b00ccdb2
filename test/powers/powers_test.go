// Package powers holds what every verb answers about a corpus of traces: recorded ones in testdata, and those of bench/scale's patterns,
// whose files are held as well. A change that should change nothing shows it here; one that should shows where.
//
// Of a few small traces the texts are kept as people read them (testdata/text), so that a change of them is seen in its commit; of all
// others, and of what is written for programs, hashes.
//
//	go test ./test/powers -update          what is answered now is right
//	go test ./test/powers -into DIR        keep the answers, to compare those of two builds
//	go test ./test/powers -record          record what the corpus lacks
package powers

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

var (
	update = flag.Bool("update", false, "rewrite the answers")
	into   = flag.String("into", "", "keep answers in this `folder`")
	record = flag.Bool("record", false, "record what the corpus lacks")
)

// answers are lines of: trace, verb and its arguments, first half of a SHA-256, bytes.
const answers = "testdata/answers.txt"

// Verbs with their arguments. T is the trace; what is written is O, a file or folder whose contents are part of the answer.
var verbs = []string{
	"info --json T",
	"calltree --json T",
	"profile --json T",
	"dump --json T",
	"dump --times T",
	"papers structure --json T",
	"papers rsd T",
	"matrix --json T",
	"efficiency --json T",
	"waits --json T",
	"waits --path --json T",
	"profile --histogram --json T",
	"io --json T",
	"simulate --machine infiniband --json T",
	"diff --json T T",
	"cut --iteration 1:3 -o O T",
	"reduce -o O T",
	"papers thin --partners -o O T",
	"papers thin --order -o O T",
	"proxy -o O.c T",
	"report -o O.html T",
	"export --to otf2 -o O T",
	"export --to csv -o O T",
	"export --to chrome -o O T",
	"export --to paraver -o O T",
	"export --to dimemas -o O T",
	"papers goal -o O T",
	"export --to smpi -o O T",
}

// pairs are verbs that take two traces: of the corpus each and the next one, of a pattern those on 16 and 64 ranks.
var pairs = []string{
	"diff --all-ranks --json T U",
	"compare --json T U",
	"extrapolate --ranks 256 -o O T U",
}

// texts are answers as people read them, of the traces in small; U is the second one.
var (
	small = []string{"heat2d", "waitsome", "sort", "datatypes"}
	texts = []string{
		"info T", "profile T", "profile --by-rank T", "calltree T", "calltree --functions T", "efficiency T", "efficiency --by-rank T", "waits T", "waits --path T", "matrix T",
		"dump --rank 0 T", "diff T U", "compare T U", "scaling T U", "simulate --machine infiniband T",
	}
)

// archives are of OTF2, beside the reader of such.
var archives = []string{"eztrace", "grid", "off", "scorep", "windows"}

var long = regexp.MustCompile(`[0-9]+\.[0-9]{3,}(e[-+][0-9]+)?`)

// A recording is a trace of testdata.
type recording struct {
	name   string
	flags  []string // of spoor run
	source string   // of test/mpi; or an app of that name
	env    string
	ranks  int
}

var corpus = []recording{
	{name: "heat2d", ranks: 4},
	{name: "cg", ranks: 4},
	{name: "cg-exact", source: "cg", flags: []string{"--timing", "lossless"}, ranks: 4},
	{name: "cg-hist", source: "cg", flags: []string{"--timing", "hist"}, ranks: 4},
	{name: "lu-none", source: "lu", flags: []string{"--timing", "none"}, ranks: 4},
	{name: "nbody-stats", source: "nbody", flags: []string{"--timing", "stats"}, ranks: 4},
	{name: "master", ranks: 4},
	{name: "sort-exact", source: "sort", flags: []string{"--timing", "lossless"}, ranks: 4},
	{name: "ocean", ranks: 4},
	{name: "checkpoint", flags: []string{"--io"}, ranks: 4},
	{name: "threads", source: "threads.c", ranks: 2},
	{name: "rma_fence", source: "rma_fence.c", ranks: 3},
	{name: "handovers", source: "threads_objects.c", ranks: 3},
	{name: "persistent", source: "persistent.c", ranks: 3},
	{name: "wildcards-exact", source: "wildcards.c", flags: []string{"--timing", "lossless"}, ranks: 4},
	{name: "neighbours", source: "neighbours.c", ranks: 4},
	{name: "collectives-exact", source: "collectives.c", flags: []string{"--timing", "lossless"}, ranks: 4},
	{name: "commsplit", source: "commsplit.c", ranks: 4},
	{name: "datatypes", source: "datatypes.c", ranks: 2},
	{name: "counters", source: "heat2d", flags: []string{"--counters", "page-faults"}, ranks: 4},
	{name: "lanes", source: "requests_many.c", ranks: 3},
	{name: "clocks", source: "sendrecv.c", env: "SPOOR_CLOCK_SKEW=1:200000000:100:0", ranks: 2},
	{name: "import", source: "eztrace"}, // an archive beside its reader
	{name: "waitsome", source: "waitsome.c", ranks: 3},
	{name: "sort", ranks: 4},                         // with what the ranks found out of waits
	{name: "iterations", source: "heat2d", ranks: 4}, // and of iterations
}

func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("only with -record")
	}
	m := mpis.Need(t)[0]
	for _, r := range corpus {
		if _, err := os.Stat(filepath.Join("testdata", r.name+".spoor")); err == nil {
			continue
		}
		if r.ranks == 0 {
			archive := mpis.Root("internal", "convert", "otf2", "testdata", r.source)
			if out, err := exec.Command(mpis.NeedSpoor(t), "import", "-o", filepath.Join("testdata", r.name+".spoor"), archive).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			continue
		}
		dir := t.TempDir()
		program := filepath.Join(dir, "app")
		app, ok := compile.ByName(r.source)
		if r.source == "" {
			app, ok = compile.ByName(r.name)
		}
		var err error
		var args []string
		if ok {
			program, err = app.Build(m, dir)
			args = app.Quick
		} else {
			err = m.Compile(program, mpis.Root("test", "mpi", r.source))
		}
		if err != nil {
			t.Fatal(err)
		}
		line := append([]string{mpis.NeedSpoor(t), "run", "-q", "-o", r.name + ".spoor"}, r.flags...)
		out := mpis.Job{MPI: m, Dir: dir, Env: strings.Fields(r.env)}.Run(append(line, m.Command(r.ranks, append([]string{program}, args...)...)...)...)
		if out.Err != nil {
			t.Fatalf("%s: %v", r.name, out)
		}
		data, err := os.ReadFile(filepath.Join(dir, r.name+".spoor"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", r.name+".spoor"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPowers(t *testing.T) {
	dir := t.TempDir() // names of traces are in answers, folders are not
	patterns := exec.Command("go", "run", "./bench/scale", "-ranks", "16,64", "-baseline=false", "-keep", dir)
	patterns.Dir = mpis.Root()
	if out, err := patterns.CombinedOutput(); err != nil {
		t.Fatalf("bench/scale: %v\n%s", err, out)
	}
	got := make(map[string]string)
	traces, err := filepath.Glob(filepath.Join(dir, "*.spoor"))
	if err != nil || len(traces) == 0 {
		t.Fatal("bench/scale writes no traces", err)
	}
	for _, path := range traces {
		got[filepath.Base(path)+" | file"] = sum(t, path)
	}
	lines := map[string][]string{filepath.Join(dir, "ocean-16.spoor"): {"info --json T", "calltree --json T", "papers thin --trip-counts -o O T"}} // of 380,000 calls
	for _, path := range traces {
		if strings.HasSuffix(path, "-16.spoor") && !strings.HasPrefix(filepath.Base(path), "ocean") {
			lines[path] = slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return strings.HasPrefix(verb, "export") || strings.HasPrefix(verb, "report") })
		}
	}
	for _, r := range corpus {
		path := filepath.Join(dir, r.name+".spoor")
		data, err := os.ReadFile(filepath.Join("testdata", r.name+".spoor"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		lines[path] = verbs
	}
	for _, name := range archives {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(mpis.Root("internal", "convert", "otf2", "testdata", name))); err != nil {
			t.Fatal(err)
		}
		lines[filepath.Join(dir, name)] = []string{"import -o O T"}
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	spoor := mpis.NeedSpoor(t)
	put := func(path, other, verb string, kept bool) {
		slots <- struct{}{}
		wait.Go(func() {
			key, text := ask(t, spoor, dir, filepath.Base(path), other, verb)
			value := digest(text)
			if kept {
				value = keep(t, key, text)
			}
			mu.Lock()
			got[key] = value
			mu.Unlock()
			<-slots
		})
	}
	for path, verbs := range lines {
		for _, verb := range verbs {
			put(path, "", verb, false)
		}
		if large := strings.Replace(filepath.Base(path), "-16.spoor", "-64.spoor", 1); large != filepath.Base(path) && !strings.HasPrefix(large, "ocean") {
			for _, verb := range pairs {
				put(path, large, verb, false)
			}
		}
	}
	for i, r := range corpus {
		next := corpus[(i+1)%len(corpus)].name + ".spoor"
		for _, verb := range pairs {
			put(r.name+".spoor", next, verb, false)
		}
		if !slices.Contains(small, r.name) {
			continue
		}
		for _, verb := range texts {
			put(r.name+".spoor", small[1]+".spoor", verb, true)
		}
	}
	wait.Wait()
	compare(t, got)
	written := make(map[string]bool)
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		r, err := trace.Open(path)
		if err != nil {
			continue // another kind of file
		}
		for _, s := range r.Sections() {
			written[s.Name] = true
		}
		r.Close()
	}
	for _, name := range container.SectionNames {
		if name != "" && !written[name] {
			t.Errorf("no trace has a section %q", name)
		}
	}
}

// keep compares an answer with the one that is kept as text, or writes it.
func keep(t *testing.T, key string, text []byte) string {
	path := filepath.Join("testdata", "text", strings.NewReplacer(".spoor | ", "/", " ", "_").Replace(key)+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Error(err)
		}
		return "text"
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(string(want), string(text)); d != "" {
		t.Errorf("%s:\n%s", path, d)
	}
	return "text"
}

// ask runs a verb in the folder of the traces, and returns what it printed and wrote.
func ask(t *testing.T, spoor, dir, trace, other, verb string) (key string, text []byte) {
	out := strings.NewReplacer(" T", "", " U", "", " ", "").Replace(verb) + "-" + strings.TrimSuffix(trace, ".spoor")
	var args []string
	for _, word := range strings.Fields(verb) {
		switch {
		case word == "T":
			word = trace
		case word == "U":
			word = other
		case word == "O" || strings.HasPrefix(word, "O."):
			word = out + word[1:]
			out = word
		}
		args = append(args, word)
	}
	c := exec.Command(spoor, args...)
	c.Dir = dir
	c.Env = append(c.Environ(), "COLUMNS=160")
	text, err := c.CombinedOutput()
	if err != nil {
		text = fmt.Appendf(text, "%v\n", err)
	}
	// What was written comes after what was printed, file by file.
	_ = filepath.WalkDir(filepath.Join(dir, out), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			text = fmt.Appendf(text, "%s: %d bytes\n%s\n", d.Name(), len(data), data)
		}
		return nil
	})
	// Sums of floats may be added up in another order.
	text = long.ReplaceAllFunc(text, func(number []byte) []byte {
		f, _ := strconv.ParseFloat(string(number), 64)
		return fmt.Appendf(nil, "%.9g", f)
	})
	key = trace + " | " + strings.ReplaceAll(verb, " T", "")
	if *into != "" {
		name := strings.NewReplacer(" ", "_", "|", "", "/", "").Replace(key)
		if err := os.WriteFile(filepath.Join(*into, name), text, 0o644); err != nil {
			t.Error(err)
		}
	}
	return key, text
}

func digest(data []byte) string {
	h := sha256.Sum256(data)
	return fmt.Sprintf("%x %d", h[:8], len(data))
}

func sum(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return digest(data)
}

func compare(t *testing.T, got map[string]string) {
	t.Helper()
	var list []string
	for key, value := range got {
		list = append(list, key+" | "+value)
	}
	slices.Sort(list)
	if *update {
		if err := os.WriteFile(answers, []byte(strings.Join(list, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		at := strings.LastIndex(line, " | ")
		want[line[:at]] = line[at+3:]
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s: %q, was %q", key, got[key], value)
		}
	}
	for key := range got {
		if want[key] == "" {
			t.Errorf("%s is new", key)
		}
	}
}
