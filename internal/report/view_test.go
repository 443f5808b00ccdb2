package report

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

func serve(t *testing.T) *Server {
	t.Helper()
	r := mergetest.Run(t, 3, tracktest.Stencil(20))
	o := Options{UsesViewer: true}
	d, err := CollectData(r, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(0, []byte("<p>page"), NewViewer(r, d, o))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func ask(t *testing.T, method, url, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	a, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// Only the user who has the address sees anything, under the server's own name.
func TestRefuses(t *testing.T) {
	s := serve(t)
	url := s.URL()
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil || host != "127.0.0.1" {
		t.Fatalf("listens on %s, %v", s.listener.Addr(), err)
	}
	base := strings.TrimSuffix(url, s.token+"/")
	other := serve(t)
	for _, c := range []struct {
		method, url, host string
		want              int
	}{
		{"GET", url, "", 200},
		{"GET", url, "localhost:" + port, 200},
		{"GET", url + "window?from=0&to=100000", "", 200},
		{"GET", base, "", 403},
		{"GET", base + "window?from=0&to=100000", "", 403},
		{"GET", base + other.token + "/", "", 403},
		{"GET", base + s.token[:len(s.token)-1] + "/", "", 403},
		{"GET", base + "x" + s.token + "/", "", 403},
		{"GET", url, "spoor.example", 421},
		{"GET", url, "spoor.example:" + port, 421},
		{"GET", url, "127.0.0.1", 421},
		{"GET", url, "127.0.0.1.spoor.example:" + port, 421},
		{"GET", base, "spoor.example", 421},
		{"POST", url, "", 405},
		{"PUT", url + "window?from=0&to=1", "", 405},
		{"GET", url + "other", "", 404},
		{"GET", url + "window", "", 400},
		{"GET", url + "window?from=5&to=x", "", 400},
		{"GET", url + "window?from=5&to=5", "", 400},
		{"GET", url + "window?from=99999999999999&to=999999999999999", "", 400},
	} {
		if got, text := ask(t, c.method, c.url, c.host); got != c.want {
			t.Errorf("%s %s as %q: %d %q, want %d", c.method, strings.Replace(c.url, s.token, "TOKEN", 1), c.host, got, text, c.want)
		} else if got != 200 && strings.Contains(text, s.token) {
			t.Errorf("%s %s tells the token", c.method, c.url)
		}
	}
}
