package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// timed is a program of which each call has a time of its own: the last rank computes longer.
func timed(ranks, rounds int) []*track.Track {
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		n := int64(r.Size)
		for range rounds {
			r.Send(3, 100, (int64(r.Rank)+1)%n, 7)
			r.Recv(4, 100, (int64(r.Rank)+n-1)%n, 7)
			r.Allreduce(5, 1)
		}
		r.End()
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
			if gap = 4000; rank == ranks-1 {
				gap = 9000
			}
			return gap, 3000 + uint64(i%3)*500
		})
	}
	return tracks
}

// figure is the timeline's canvas as it is now.
type figure struct {
	Mode, Ticks                  string
	From, To                     float64
	Rows, Lines                  int
	X, Y, Left, Top, Width, High float64
}

func (p *tab) figure() (f figure) {
	p.t.Helper()
	text := p.eval(`(async () => { await new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));
		const c = document.querySelector("#timeline canvas"), r = c.getBoundingClientRect(), d = c.dataset;
		return JSON.stringify({ Mode: d.mode, Ticks: d.ticks, From: +d.from, To: +d.to, Rows: +d.rows, Lines: +d.lines, X: r.x, Y: r.y, Left: +d.left, Top: +d.top, Width: r.width, High: r.height }); })()`)
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	return f
}

// Clicks, wheel, drags and keys do with the timeline what they do with Vampir's, whatever the number of ranks.
func TestTimeline(t *testing.T) {
	for _, c := range []struct{ ranks, rounds, rows int }{{4, 200, 4}, {64, 200, 64}, {1024, 10, 256}} {
		t.Run(strconv.Itoa(c.ranks), func(t *testing.T) {
			b := page(t, reader(t, timed(c.ranks, c.rounds), "./ring"))
			if len(b) > 2<<20 {
				t.Errorf("the page has %d bytes", len(b))
			}
			p := open(t, 1280, 900, false)
			p.load(written(t, b))
			p.eval(`document.querySelector("#timeline").scrollIntoView()`)
			useTimeline(t, p, c.rows, c.ranks)
			for _, line := range p.complaints() {
				t.Errorf("console: %s", line)
			}
		})
	}
}

func useTimeline(t *testing.T, p *tab, rows, ranks int) {
	whole := p.figure()
	if whole.Rows != rows || whole.From != 0 || whole.Mode != "tiles" && rows != 4 {
		t.Errorf("at first: %+v", whole)
	}
	x, y := whole.X+whole.Left+(whole.Width-whole.Left)/2, whole.Y+whole.Top+8
	p.click(x, y)
	if got := p.eval(`document.querySelector("#chosen").hidden`); got != "false" {
		t.Errorf("a click chose nothing")
	}

	// The wheel zooms to the place under the mouse, and the ticks have as many digits as that takes.
	for range 3 {
		p.mouse("mouseWheel", x, y, object{"deltaX": 0, "deltaY": -400})
	}
	near := p.figure()
	if d := (near.To - near.From) / whole.To; d > 0.06 || near.From <= 0 {
		t.Errorf("the wheel zoomed from %v to %v to %v", whole.To, near.From, near.To)
	}
	ticks := strings.Split(near.Ticks, "|")
	if len(ticks) < 3 || len(slices.Compact(slices.Clone(ticks))) != len(ticks) {
		t.Errorf("ticks %q", ticks)
	}

	// A drag moves, one with shift chooses a part.
	p.mouse("mousePressed", x, y, nil)
	p.mouse("mouseMoved", x-100, y, object{"buttons": 1})
	p.mouse("mouseReleased", x-100, y, nil)
	moved := p.figure()
	if moved.From <= near.From || moved.To-moved.From != near.To-near.From {
		t.Errorf("a drag moved %v to %v to %v to %v", near.From, near.To, moved.From, moved.To)
	}
	p.mouse("mousePressed", x-100, y, object{"modifiers": 8})
	p.mouse("mouseMoved", x+100, y, object{"buttons": 1, "modifiers": 8})
	p.mouse("mouseReleased", x+100, y, object{"modifiers": 8})
	if part := p.figure(); part.To-part.From > (moved.To-moved.From)/3 || part.From < moved.From {
		t.Errorf("of %v to %v, %v to %v was chosen", moved.From, moved.To, part.From, part.To)
	}

	// Keys.
	p.eval(`document.querySelector("#timeline canvas").focus()`)
	p.key("0")
	if f := p.figure(); f.From != 0 || f.To != whole.To {
		t.Errorf("0 shows %v to %v of %v", f.From, f.To, whole.To)
	}
	p.key("ArrowDown")
	p.key("ArrowDown")
	for range 20 {
		p.key("ArrowRight")
	}
	for range 6 {
		p.key("+")
	}
	p.key("Enter")
	p.key("e")
	f := p.figure()
	if f.To-f.From > whole.To/60 {
		t.Errorf("+ zoomed to %v of %v", f.To-f.From, whole.To)
	}
	text := p.eval(`document.querySelector("#chosen .pre").textContent`)
	if !strings.HasPrefix(text, "rank") {
		t.Errorf("Enter chose %q", text)
	}
	if rows == ranks {
		oneByOne(t, p, whole)
	}

	// Rows are searched for and sorted, and the part that is visible is summed up.
	p.eval(`(() => { const f = document.querySelector("#time-rows"); f.value = "0-1,3"; f.dispatchEvent(new Event("input")); })()`)
	if f := p.figure(); f.Rows != 3 && rows == ranks || f.Rows < 1 || f.Rows > 3 {
		t.Errorf("rows 0-1,3: %d", f.Rows)
	}
	p.eval(`(() => { const f = document.querySelector("#time-rows"); f.value = ""; f.dispatchEvent(new Event("input")); const s = document.querySelector("#time-sort"); s.selectedIndex = 2; s.dispatchEvent(new Event("change")); })()`)
	p.until(`document.querySelectorAll("#time-statistics tbody tr").length > 2`)
	for i, name := range []string{"function", "wait state"} {
		p.eval(fmt.Sprintf(`(() => { const s = document.querySelector("#time-colours"); s.selectedIndex = %d; s.dispatchEvent(new Event("change")); })()`, i+1))
		p.figure()
		if got := p.eval(`document.querySelectorAll("#timeline .legend li").length`); got == "0" || got == "1" {
			t.Errorf("the legend of colours by %s has %s lines", name, got)
		}
	}

	// A way leads to the calls.
	p.eval(`[...document.querySelectorAll("#findings .way")].find((b) => b.textContent === "Calls").click()`)
	if got := p.eval(`Math.abs(document.querySelector("#calls").getBoundingClientRect().top) < innerHeight / 2`); got != "true" {
		t.Error("the way to calls does not lead there")
	}
}

// oneByOne looks at single calls, where rows have one rank each.
func oneByOne(t *testing.T, p *tab, whole figure) {
	f := p.figure()
	if f.Mode != "calls" || f.Lines == 0 {
		t.Errorf("zoomed to %v of %v ns: %s, %d messages", f.To-f.From, whole.To, f.Mode, f.Lines)
		return
	}
	// One of the places has a receive.
	for i := range 60 {
		p.mouse("mouseMoved", f.X+f.Left+10+float64(i)*15, f.Y+f.Top+6, nil)
		text := p.eval(`document.querySelector("#tip").textContent`)
		if strings.Contains(text, "MPI_Recv: ") {
			for _, want := range []string{"from rank", "tag 7", " B", "MPI_COMM_WORLD", "+0x"} {
				if !strings.Contains(text, want) {
					t.Errorf("the tooltip %q lacks %q", text, want)
				}
			}
			return
		}
	}
	t.Error("no MPI_Recv under the mouse")
}

// On a telephone nothing is wider than the screen, and every figure has a name.
func TestNarrow(t *testing.T) {
	b := page(t, reader(t, timed(64, 20), "./ring_with_a_name_that_is_longer_than_a_telephone_is_wide --and arguments"))
	p := open(t, 390, 844, true)
	p.load(written(t, b))
	if got := p.eval(`String(document.documentElement.scrollWidth)`); got != "390" {
		t.Errorf("the page is %s wide: %s", got, p.eval(`[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > 391 && !e.closest(".scroll, .scrollx, .tree")).slice(0, 8).map((e) => e.tagName + "." + e.className).join()`))
	}
	if got := p.eval(`[...document.querySelectorAll("canvas:not([aria-hidden])")].filter((c) => !c.getAttribute("aria-label")).length`); got != "0" {
		t.Errorf("%s figures have no name", got)
	}
	if got := p.eval(`[...document.querySelectorAll("table")].filter((c) => !c.getAttribute("aria-label")).length`); got != "0" {
		t.Errorf("%s tables have no name", got)
	}
}

// A frame of a zoom takes less processor time than a thirtieth of a second, and the page opens within one.
// SPOOR_TEST_ROUNDS=333333 is what takes minutes: a million calls of each rank.
func TestFrames(t *testing.T) {
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("SPOOR_TEST_ROUNDS"), "500"))
	if err != nil {
		t.Fatal(err)
	}
	b := page(t, reader(t, timed(64, rounds), "./ring"))
	p := open(t, 1280, 900, false)
	url := written(t, b)
	p.trace(func() { p.load(url) })
	if ms := p.busiest(); ms > 1000 {
		t.Errorf("opening took the page's thread %.0f ms", ms)
	} else {
		t.Logf("%d bytes, opening took the page's thread %.0f ms", len(b), ms)
	}
	p.eval(`document.querySelector("#timeline").scrollIntoView()`)
	f := p.figure()
	x, y := f.X+f.Width/2, f.Y+f.Top+50
	p.click(x, y)
	p.trace(func() {
		for range 32 {
			p.mouse("mouseWheel", x, y, object{"deltaX": 0, "deltaY": -60})
			p.figure()
		}
	})
	frames := p.frames()
	if len(frames) < 25 {
		t.Fatalf("only %d frames were traced", len(frames))
	}
	slices.Sort(frames)
	if ms := frames[len(frames)*9/10]; ms > 33 {
		t.Errorf("nine of ten frames take up to %.1f ms", ms)
	} else {
		t.Logf("%d frames, nine of ten take up to %.1f ms", len(frames), ms)
	}
}

// trace has Chromium trace what is done.
func (p *tab) trace(what func()) {
	p.t.Helper()
	p.b.mu.Lock()
	p.b.events[""] = p.tell
	p.b.mu.Unlock()
	p.mu.Lock()
	p.traced = nil
	p.mu.Unlock()
	p.into(nil, "", "Tracing.start", object{"transferMode": "ReportEvents", "traceConfig": object{"includedCategories": []string{"devtools.timeline", "toplevel", "__metadata"}}})
	what()
	p.into(nil, "", "Tracing.end", object{})
	select {
	case <-p.done:
	case <-time.After(perPage):
		p.t.Fatal("tracing did not end")
	}
}

// event is one of Chromium's trace; times are in µs, TDur is the thread's processor time.
type event struct {
	Name, Ph string
	Pid, Tid int
	TDur     float64
}

func (p *tab) events() (list []event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, raw := range p.traced {
		var e event
		if json.Unmarshal(raw, &e) == nil {
			list = append(list, e)
		}
	}
	return list
}

// frames are the processor times of animation frames, in ms.
func (p *tab) frames() (list []float64) {
	for _, e := range p.events() {
		if e.Name == "FireAnimationFrame" && e.TDur > 300 { // others than those that draw take less
			list = append(list, e.TDur/1000)
		}
	}
	return list
}

// busiest is the processor time of the thread that ran most tasks of scripts, in ms.
func (p *tab) busiest() (most float64) {
	sums := make(map[[2]int]float64)
	for _, e := range p.events() {
		switch e.Name {
		case "EvaluateScript", "ParseHTML", "FunctionCall", "RunMicrotasks", "Layout", "UpdateLayoutTree", "Paint", "FireAnimationFrame", "v8.compileModule":
			if e.Ph == "X" {
				sums[[2]int{e.Pid, e.Tid}] += e.TDur / 1000
			}
		}
	}
	for _, ms := range sums {
		most = max(most, ms)
	}
	return most
}
