package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/show"
)

// A progress says on a terminal how far long work has come. It keeps quiet for
// the first two seconds, and always if stderr is no terminal.
type progress struct {
	w     io.Writer // nil: quiet
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

// step counts one piece of work.
func (p *progress) step() { p.steps(1) }

// steps counts several.
func (p *progress) steps(n int) {
	p.done += n
	now := time.Now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(200*time.Millisecond), true
	fmt.Fprintf(p.w, "\rspoor: %s: %s of %s%s\x1b[K", p.what, show.Grouped(p.done), show.Grouped(p.total), p.left(now))
}

// left says how long the rest will take, if it is as the work so far.
func (p *progress) left(now time.Time) string {
	if p.done <= 0 || p.done >= p.total {
		return ""
	}
	rest := float64(now.Sub(p.start)) / float64(p.done) * float64(p.total-p.done)
	return ", about " + max(time.Second, time.Duration(rest).Round(time.Second)).String() + " left"
}

// end wipes the line.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func terminal(f *os.File) bool {
	var termios [64]byte // more than any struct termios
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&termios)))
	return errno == 0
}
