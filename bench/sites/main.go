// Command sites measures what the calls of trace files take by distinct calls and by call sites, and what opening them costs either way. Traces
// are those that bench/scale -keep wrote, or any others; what is laid out by sites is compared as it is when a file is written.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/recode"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	into := flag.String("write", "", "write the files laid out by sites to this `folder`")
	flag.Parse()
	fmt.Printf("%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n", "trace", "calls", "file", "content", "by site", "file", "coding", "opening", "by site")
	for _, path := range flag.Args() {
		if err := run(path, *into); err != nil {
			fmt.Fprintf(os.Stderr, "sites: %s: %v\n", path, err)
		}
	}
}

func run(path, into string) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r, calls, opening, err := open(file, path)
	if err != nil {
		return err
	}
	content := int64(0)
	for _, s := range r.Sections() {
		if s.Name == "signatures" || s.Name == "classes" || s.Name == "columns" {
			content += s.Stored
		}
	}
	before := spent()
	coded, err := recode.Coded(r)
	coding := spent() - before
	if err != nil {
		return err
	}
	section, saved, err := r.WithCallsBySite(coded)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := container.Exchange(&out, bytes.NewReader(file), int64(len(file)), container.BySite, section, container.Signatures, container.Classes, container.Columns); err != nil {
		return err
	}
	if into != "" {
		if err := os.WriteFile(filepath.Join(into, filepath.Base(path)), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	_, _, again, err := open(out.Bytes(), path)
	if err != nil {
		return err
	}
	fmt.Printf("%-20s %9d %9d %9d %9d %9d %9s %9s %9s\n", strings.TrimSuffix(filepath.Base(path), ".spoor"), calls, len(file), content, content-saved, out.Len(),
		coding.Round(time.Millisecond), opening.Round(time.Millisecond), again.Round(time.Millisecond))
	return nil
}

// open opens a trace and looks at all ranks, and tells the processor time that takes.
func open(file []byte, name string) (r *trace.Reader, calls uint64, took time.Duration, err error) {
	before := spent()
	if r, err = trace.NewReader(bytes.NewReader(file), int64(len(file)), name); err != nil {
		return nil, 0, 0, err
	}
	for k, err := range r.Tracks() {
		if err != nil {
			return nil, 0, 0, err
		}
		for s := range k.Streams() {
			calls += k.Len(s)
		}
	}
	return r, calls, spent() - before, nil
}

// spent is the processor time so far.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
