package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// writeJSON prints v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// An output is the flags that select how a verb prints its answer: as text, unless --json or --csv is given.
type output struct {
	json, csv bool
	columns   []string
	sort      string
	top       show.Limit
}

// tableFlags adds the flags of verbs that print a table. top is the default of --top, which counts rows of this name.
func (o *output) tableFlags(cmd *cobra.Command, top int, rows string) {
	f := cmd.Flags()
	topFlag(f, &o.top, top, rows)
	f.StringSliceVar(&o.columns, "columns", nil, "only these `columns`, as --csv names them: time_ns,function")
	f.StringVar(&o.sort, "sort", "", "sort rows by this `column`, as --csv names it")
	f.BoolVar(&o.csv, "csv", false, "print CSV, all rows")
	jsonFlag(f, &o.json)
	cmd.MarkFlagsMutuallyExclusive("csv", "json")
}

// tableView returns the table's layout from the flags of tableFlags.
func (o *output) tableView() show.View {
	return show.View{MaxRows: o.top.Rows, Columns: o.columns, Sort: o.sort, CSV: o.csv}
}

// wrongColumn turns an error about an unknown column into a usage error, and returns other errors as they are.
func wrongColumn(cmd *cobra.Command, err error) error {
	if no := (*show.UnknownColumnError)(nil); errors.As(err, &no) {
		return &usageError{cmd, err}
	}
	return err
}

// print prints an answer in the form that the flags select: as JSON with --json, with table for CSV and for chosen or
// sorted columns, else with text. If text is nil, table prints text, too; if table is nil, there is no CSV.
func (o output) print(cmd *cobra.Command, answer any, text func(io.Writer), table func(io.Writer, show.View) error) error {
	if o.csv && table == nil {
		return &usageError{cmd, errors.New("--csv: this answer has no table")}
	}
	return buffered(cmd.OutOrStdout(), func(w io.Writer) error {
		switch {
		case o.json:
			return writeJSON(w, answer)
		case text == nil, o.csv, table != nil && (o.sort != "" || o.columns != nil):
			return wrongColumn(cmd, table(w, o.tableView()))
		}
		text(w)
		return nil
	})
}

// buffered calls write with a buffered writer to to. It returns the first error, even one of to's that write ignores.
func buffered(to io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriter(to)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// thereAlready is the error for a file that exists and must not be replaced. It names flags that help.
func thereAlready(path string) error {
	return fmt.Errorf("%s exists; use --force to write over it, or -o for another name", path)
}

// mayWrite returns an error if path is a device, FIFO or socket, or if it exists and force is not set.
func mayWrite(path string, force bool) error {
	if err := sections.CheckReplaceable(path); err != nil {
		return err
	}
	if exists(path) && !force {
		return thereAlready(path)
	}
	return nil
}

// written returns the size of a file after it was written. err is the error of writing it; if the file exists and must
// not be replaced, written adds flags that help.
func written(path string, err error) (size int64, _ error) {
	if errors.Is(err, fs.ErrExist) {
		return 0, thereAlready(path)
	}
	if err != nil {
		return 0, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// nameOf returns the default name, in the current folder, of a trace derived from r: app.WHAT.spoor (e.g.
// app.part.spoor).
func nameOf(r *trace.Reader, what string) string {
	return strings.TrimSuffix(filepath.Base(r.Name()), ".spoor") + "." + what + ".spoor"
}

// span writes a range of numbers: "4" if both are equal, or "4 to 7".
func span(least, most uint64) string {
	if least == most {
		return show.FormatGrouped(least)
	}
	return show.FormatGrouped(least) + " to " + show.FormatGrouped(most)
}

// wallClock writes a time given in ns since 1970. It is in UTC, so that outputs in different time zones are equal.
func wallClock(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05 UTC")
}

// A progress displays on a terminal how far long work has advanced. It is silent for the first two seconds, and
// always if stderr is not a terminal.
type progress struct {
	w     io.Writer // the terminal; nil: nothing is displayed
	what  string
	total int
	done  int
	start time.Time
	next  time.Time
	shown bool
}

func newProgress(stderr io.Writer, what string, total int) *progress {
	p := &progress{what: what, total: total, start: time.Now()}
	if f, ok := stderr.(*os.File); ok && terminal(f) {
		p.w = f
	}
	p.next = p.start.Add(2 * time.Second)
	return p
}

// step counts one unit of work as done (see total), and updates the display.
func (p *progress) step() { p.steps(1) }

// steps counts n units of work as done, and updates the display at most every 200 ms.
func (p *progress) steps(n int) {
	p.done += n
	now := time.Now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(200*time.Millisecond), true
	fmt.Fprintf(p.w, "\rspoor: %s: %s of %s%s\x1b[K", p.what, show.FormatGrouped(p.done), show.FormatGrouped(p.total), p.left(now))
}

// left returns a text with the remaining time, estimated from the speed so far; "": there is no estimate.
func (p *progress) left(now time.Time) string {
	if p.done <= 0 || p.done >= p.total {
		return ""
	}
	rest := float64(now.Sub(p.start)) / float64(p.done) * float64(p.total-p.done)
	return ", about " + max(time.Second, time.Duration(rest).Round(time.Second)).String() + " left"
}

// end erases the display's line.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func terminal(f *os.File) bool {
	var termios [64]byte // room for the kernel's struct termios, which is smaller
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&termios)))
	return errno == 0
}
