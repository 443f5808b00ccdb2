package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/need"
)

// A browser is one Chromium without a screen, driven over a pipe by the DevTools protocol, for all tests
// of the package: starting it takes longer than most tests.
type browser struct {
	cmd  *exec.Cmd
	in   io.Writer
	dir  string
	last atomic.Int64

	mu     sync.Mutex
	waits  map[int64]chan reply
	events map[string]func(method string, params json.RawMessage) // by session
}

type reply struct {
	ID        int64           `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// chromium is the one that is started when a test first asks for a tab.
var chromium struct {
	once sync.Once
	b    *browser
	err  error
}

func startBrowser(path string) (*browser, error) {
	dir, err := os.MkdirTemp("", "spoor-chromium-")
	if err != nil {
		return nil, err
	}
	b := &browser{dir: dir, waits: make(map[int64]chan reply), events: make(map[string]func(string, json.RawMessage))}
	b.cmd = exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
		"--disable-background-networking", "--disable-extensions", "--user-data-dir="+filepath.Join(dir, "profile"), "--remote-debugging-pipe", "about:blank")
	toRead, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, toWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	b.in, b.cmd.ExtraFiles = in, []*os.File{toRead, toWrite}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	toRead.Close()
	toWrite.Close()
	go b.listen(bufio.NewReaderSize(out, 1<<20))
	return b, nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if b := chromium.b; b != nil {
		b.cmd.Process.Kill()
		b.cmd.Wait()
		os.RemoveAll(b.dir)
	}
	os.Exit(code)
}

func (b *browser) listen(r *bufio.Reader) {
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			for _, c := range b.waits {
				close(c)
			}
			b.waits = nil
			b.mu.Unlock()
			return
		}
		var m reply
		if json.Unmarshal(bytes.TrimRight(line, "\x00"), &m) != nil {
			continue
		}
		b.mu.Lock()
		c, tell := b.waits[m.ID], b.events[m.SessionID]
		delete(b.waits, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID > 0 && c != nil:
			c <- m
		case tell != nil:
			tell(m.Method, m.Params)
		}
	}
}

// A tab is one page of the browser.
type tab struct {
	t       *testing.T
	b       *browser
	session string

	mu       sync.Mutex
	problems []string
	traced   []json.RawMessage
	done     chan struct{} // tracing
}

// call makes one call of the protocol.
func (b *browser) call(session, method string, params any) (json.RawMessage, error) {
	id := b.last.Add(1)
	text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params, "sessionId": session})
	if session == "" {
		text, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err != nil {
		return nil, err
	}
	c := make(chan reply, 1)
	b.mu.Lock()
	if b.waits == nil {
		b.mu.Unlock()
		return nil, fmt.Errorf("%s: the browser is gone", method)
	}
	b.waits[id] = c
	_, err = b.in.Write(append(text, 0))
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case m, ok := <-c:
		if !ok {
			return nil, fmt.Errorf("%s: the browser is gone", method)
		}
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		return m.Result, nil
	case <-time.After(perPage):
		return nil, fmt.Errorf("%s: no answer", method)
	}
}

type object = map[string]any

// open opens a tab that shows nothing yet.
func open(t *testing.T, width, height int, dark bool) *tab {
	t.Helper()
	path := need.Command(t, "chromium", "chromium-browser", "google-chrome")
	chromium.once.Do(func() { chromium.b, chromium.err = startBrowser(path) })
	b := chromium.b
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	p := &tab{t: t, b: b, done: make(chan struct{}, 1)}
	var made struct{ TargetID, SessionID string }
	p.into(&made, "", "Target.createTarget", object{"url": "about:blank"})
	target := made.TargetID
	p.into(&made, "", "Target.attachToTarget", object{"targetId": target, "flatten": true})
	p.session = made.SessionID
	b.mu.Lock()
	b.events[p.session] = p.tell
	b.mu.Unlock()
	t.Cleanup(func() { b.call("", "Target.closeTarget", object{"targetId": target}) })
	p.do("Runtime.enable", object{})
	p.do("Log.enable", object{})
	p.do("Page.enable", object{})
	p.do("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}})
	return p
}

// tell notes what the page complains of, and what tracing has.
func (p *tab) tell(method string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		p.problems = append(p.problems, string(params))
	case "Runtime.consoleAPICalled":
		p.problems = append(p.problems, string(params))
	case "Tracing.dataCollected":
		var x struct{ Value []json.RawMessage }
		if json.Unmarshal(params, &x) == nil {
			p.traced = append(p.traced, x.Value...)
		}
	case "Tracing.tracingComplete":
		p.done <- struct{}{}
	}
}

func (p *tab) into(to any, session, method string, params object) {
	p.t.Helper()
	raw, err := p.b.call(session, method, params)
	if err == nil && to != nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		p.t.Fatalf("chromium: %v", err)
	}
}

func (p *tab) do(method string, params object) {
	p.t.Helper()
	p.into(nil, p.session, method, params)
}

// eval returns what a script gives, awaited.
func (p *tab) eval(script string) string {
	p.t.Helper()
	var x struct {
		Result struct {
			Value       any
			Description string
		}
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.into(&x, p.session, "Runtime.evaluate", object{"expression": script, "awaitPromise": true, "returnByValue": true})
	if x.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", script, x.ExceptionDetails.Exception.Description)
	}
	if s, ok := x.Result.Value.(string); ok {
		return s
	}
	text, _ := json.Marshal(x.Result.Value)
	return string(text)
}

// load shows a page and waits until it is ready.
func (p *tab) load(url string) {
	p.t.Helper()
	p.do("Page.navigate", object{"url": url})
	p.until(`document.documentElement?.dataset.ready === "true"`)
}

// until waits for a script to be true.
func (p *tab) until(script string) {
	p.t.Helper()
	for end := time.Now().Add(perPage); p.eval(script) != "true"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("never: %s\n%s", script, p.complaints())
		}
	}
}

func (p *tab) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// key presses a key.
func (p *tab) key(name string) {
	p.t.Helper()
	press := object{"type": "keyDown", "key": name}
	if len(name) == 1 {
		press["text"] = name
	}
	p.do("Input.dispatchKeyEvent", press)
	p.do("Input.dispatchKeyEvent", object{"type": "keyUp", "key": name})
}

// mouse does something at a place of the window.
func (p *tab) mouse(what string, x, y float64, more object) {
	p.t.Helper()
	ev := object{"type": what, "x": x, "y": y}
	if what == "mousePressed" || what == "mouseReleased" {
		ev["button"], ev["clickCount"] = "left", 1
	}
	for k, v := range more {
		ev[k] = v
	}
	p.do("Input.dispatchMouseEvent", ev)
}

func (p *tab) click(x, y float64) {
	p.t.Helper()
	p.mouse("mouseMoved", x, y, nil)
	p.mouse("mousePressed", x, y, nil)
	p.mouse("mouseReleased", x, y, nil)
}
