// A Server serves the page of one trace to the browser of the user who asked for it, and to nobody else.
//
// Invariants:
//
//  1. It listens on 127.0.0.1 alone.
//  2. The page's address holds a random token. What does not begin with it MUST be refused, and so MUST
//     whatever names another host: a site that has its name point to this machine learns nothing.
//  3. It only reads, and answers nothing but GET.

package report

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoor-hpc/spoor/trace"
)

// A Server serves one page.
type Server struct {
	listener net.Listener
	token    string
	page     []byte
	viewer   *Viewer // nil: no detail views
}

// NewServer listens on a port of 127.0.0.1; 0: any free port. viewer may be nil.
func NewServer(port int, page []byte, viewer *Viewer) (*Server, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return &Server{l, rand.Text(), page, viewer}, nil
}

// URL returns the address of the page.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/%s/", s.listener.Addr(), s.token) }

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Referrer-Policy", "no-referrer") // the token must not leak to other sites
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case !s.mine(r.Host):
		http.Error(w, "this server is "+s.listener.Addr().String()+" and answers to no other name", http.StatusMisdirectedRequest)
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
		http.Error(w, "the address lacks the token that spoor report --serve printed", http.StatusForbidden)
	case r.Method != http.MethodGet:
		head.Set("Allow", http.MethodGet)
		http.Error(w, "there is nothing to do here but GET", http.StatusMethodNotAllowed)
	case path == "":
		head.Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.page)
	case path == "window" && s.viewer != nil:
		s.window(w, r)
	default:
		http.NotFound(w, r)
	}
}

// mine reports whether a Host header names this server.
func (s *Server) mine(host string) bool {
	addr := s.listener.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	return err == nil && (host == addr || host == net.JoinHostPort("localhost", port))
}

// window answers with a part of the timeline.
func (s *Server) window(w http.ResponseWriter, r *http.Request) {
	var at [2]int64
	for i, name := range [2]string{"from", "to"} {
		v, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
		if err != nil {
			http.Error(w, name+" is no time in ns", http.StatusBadRequest)
			return
		}
		at[i] = v
	}
	part, err := s.viewer.Window(at[0], at[1])
	if errors.Is(err, ErrNoSuchTimelineWindow) {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(part)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
}

// A Viewer paints parts of a run in more detail than the page has.
type Viewer struct {
	mu    sync.Mutex
	r     *trace.Reader
	o     Options
	t     *Timeline
	calls uint64
}

// A TimelineWindow is a part of a timeline. Its tiles have the formats of Timeline and WaitTiles.
type TimelineWindow struct {
	StartNs             int64        `json:"from"` // ns since the start of the timeline
	EndNs               int64        `json:"to"`
	Tiles               int          `json:"tiles"`
	PackedMainFunctions string       `json:"main"`
	PackedInCallShares  string       `json:"share"`
	PackedMainWaitKinds string       `json:"wait_main,omitempty"`
	PackedWaitShares    string       `json:"wait_share,omitempty"`
	SingleCalls         *SingleCalls `json:"single,omitempty"` // nil if the window has more than windowSingle calls
}

// Bounds of windows.
const (
	windowTiles  = 1 << 12 // number of tiles of a row
	windowCalls  = 1 << 24 // largest number of calls in a window; with more, it can't be shown
	windowSingle = 50000   // largest number of a window's calls that are also shown one by one
	wholeCalls   = 1 << 21 // largest number of the run's calls for which all are read to match messages
)

// ErrNoSuchTimelineWindow is returned for a part that can't be shown.
var ErrNoSuchTimelineWindow = errors.New("no such part of the run")

// NewViewer returns a viewer for a page made with the same options; nil if it has no timeline.
func NewViewer(r *trace.Reader, d *Data, o Options) *Viewer {
	if d.Timeline == nil || d.Timeline.rows == nil {
		return nil
	}
	o.Progress = func(string, int, int) {}
	return &Viewer{r: r, o: o, t: d.Timeline, calls: uint64(d.Summary.Calls)}
}

// Window paints the time between two times, in ns since the timeline's start.
func (v *Viewer) Window(from, to int64) (*TimelineWindow, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	from, to = max(0, from), min(to, v.t.EndNs-v.t.StartNs)
	if to <= from {
		return nil, ErrNoSuchTimelineWindow
	}
	starts, calls, err := v.starts(from, to)
	if err != nil {
		return nil, err
	}
	if calls > windowCalls {
		return nil, fmt.Errorf("%w: it has %d calls; zoom in", ErrNoSuchTimelineWindow, calls)
	}
	t := *v.t
	t.StartNs, t.EndNs = v.t.StartNs+from, v.t.StartNs+to
	t.Functions = slices.Clone(v.t.Functions)
	t.Tiles = max(64, min(windowTiles, maxTiles/len(v.t.rows)))
	p := newPainter(&t, v.t.of)
	p.part = true
	var main, share []byte
	for _, list := range v.t.rows {
		for _, x := range list {
			if err := p.thread(v.r, x, &TimelineRow{}); err != nil {
				return nil, fmt.Errorf("rank %d: %w", x.rank, err)
			}
		}
		main, share = p.tiles(main, share, len(list))
		p.clear()
	}
	w := &TimelineWindow{StartNs: from, EndNs: to, Tiles: t.Tiles, PackedMainFunctions: packed(main), PackedInCallShares: packed(share)}
	if v.t.waited != nil {
		w.PackedMainWaitKinds, w.PackedWaitShares = v.waits(&t)
	}
	if calls <= windowSingle && eachAlone(v.t.rows) {
		if v.calls <= wholeCalls {
			starts = nil
		}
		w.SingleCalls, err = v.t.singles(v.r, v.t.rows, from, to, v.o, starts)
	}
	return w, err
}

// starts returns a function that returns the index of the call in which a thread is, or was last, at time from. It also
// returns how many calls all threads make from these calls on until time to.
func (v *Viewer) starts(from, to int64) (func(rank, stream int) uint64, uint64, error) {
	at := make(map[thread]uint64)
	calls := uint64(0)
	for _, list := range v.t.rows {
		for _, x := range list {
			k, err := v.r.Rank(x.rank)
			if err != nil {
				return nil, 0, err
			}
			var index [2]uint64
			for i, ns := range [2]int64{from, to} {
				m, err := k.MomentAt(x.stream, v.t.StartNs+ns)
				if err != nil {
					return nil, 0, err
				}
				if m.LastBegunCall.Call != nil {
					index[i] = m.LastBegunCall.Index
				}
			}
			at[x] = index[0]
			calls += index[1] - index[0] + 1
		}
	}
	return func(rank, stream int) uint64 { return at[thread{rank, stream}] }, calls, nil
}

// waits returns PackedMainKinds and PackedWaitShares of WaitTiles for a timeline t of a part of the run.
func (v *Viewer) waits(t *Timeline) (main, share string) {
	w := &waitSums{t: t}
	for range v.t.WaitTiles.KindNames {
		w.sums = append(w.sums, make([]float32, len(v.t.rows)*t.Tiles))
	}
	offset := v.t.first - t.StartNs
	for row, list := range v.t.rows {
		w.ranks = append(w.ranks, len(list))
		for _, x := range v.t.waited(row) {
			start, end := max(0, x.BeginNs+offset), min(t.EndNs-t.StartNs, x.BeginNs+offset+x.Ns)
			if end <= start {
				continue
			}
			sums := w.sums[x.Kind][row*t.Tiles : (row+1)*t.Tiles]
			eachTile(t.width(), t.Tiles, float64(start), float64(end), func(tile int, ns float64) { sums[tile] += float32(ns) })
		}
	}
	return w.tiles()
}
