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
	"strconv"
	"strings"
	"time"
)

// A Server serves one page.
type Server struct {
	listener net.Listener
	token    string
	page     []byte
	viewer   *Viewer // nil: there is nothing to look at closer
}

// NewServer listens at a port of 127.0.0.1, 0: any that is free. viewer may be nil.
func NewServer(port int, page []byte, viewer *Viewer) (*Server, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	return &Server{l, rand.Text(), page, viewer}, nil
}

// URL is where the page is.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/%s/", s.listener.Addr(), s.token) }

// Serve answers until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("view: %w", err)
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Referrer-Policy", "no-referrer") // the token goes nowhere else
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

// mine reports whether a Host header means this server.
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
	if errors.Is(err, ErrWindow) {
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
