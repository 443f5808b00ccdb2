package report

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/trace"
)

// longest is a function's name as C++ has them.
const longest = "LAMMPS_NS::PairLJCharmmCoulLongKokkos<Kokkos::OpenMP>::compute_with_a_very_long_name"

// named is a page whose call sites have names of every length.
func named(t *testing.T, ranks int) []byte {
	t.Helper()
	d, err := report.CollectData(reader(t, timed(ranks, 10), "./ring"), report.Options{SiteNaming: sites.NamingByAddress(func(_ string, s trace.Site) symbolise.Place {
		name := longest[:4+int(s.Offset*13)%(len(longest)-4)]
		return symbolise.Place{Module: "ring", Offset: s.Offset, Precision: symbolise.PrecisionLine, Frames: []symbolise.Frame{{Function: name, File: "/src/pair_lj_charmm.cpp", Line: int(s.Offset) + 1}}}
	})})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.WritePage(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// maxShift is the cumulative layout shift that a reader may see while the page loads and is scrolled through.
const maxShift = 0.05

func TestLook(t *testing.T) {
	for _, ranks := range []int{4, 1024} {
		url := written(t, named(t, ranks))
		for _, width := range []int{400, 1400, 2400} {
			t.Run(fmt.Sprintf("%d ranks, %d px", ranks, width), func(t *testing.T) {
				p := open(t, width, 900, width == 2400)
				p.do("Page.addScriptToEvaluateOnNewDocument", object{"source": `window.shift = 0; new PerformanceObserver((l) => { for (const e of l.getEntries()) shift += e.value; }).observe({ type: "layout-shift", buffered: true });`})
				p.load(url)
				p.eval(`(async () => {
					for (let y = 0; y < document.documentElement.scrollHeight; y += 500) { scrollTo(0, y); await new Promise((f) => requestAnimationFrame(() => setTimeout(f, 10))); }
				})()`)
				if shift, err := strconv.ParseFloat(p.eval(`shift`), 64); err != nil || shift > maxShift {
					t.Errorf("the page jumps by %v, %v", shift, err)
				}
				p.fits(width)
				// Names of call sites and functions have one line, and show the source line.
				if got := p.eval(`[...document.querySelectorAll("td .site")].filter((e) => e.offsetParent).length > 5`); got != "true" {
					t.Error("no call sites")
				}
				if got := p.eval(`[...document.querySelectorAll(".site, th.code")].filter((e) => { const r = document.createRange(); r.selectNodeContents(e); return r.getBoundingClientRect().height > 30; }).map((e) => e.textContent).join()`); got != "" {
					t.Errorf("names have several lines: %s", got)
				}
				if got := p.eval(`[...document.querySelectorAll("td .site > :last-child")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent).join()`); got != "" && width > 400 {
					t.Errorf("source lines are cut: %s", got)
				}
				for _, line := range p.complaints() {
					t.Errorf("console: %s", line)
				}
			})
		}
	}
}

// fits reports what is wider than the page.
func (p *tab) fits(width int) {
	p.t.Helper()
	if got, err := strconv.Atoi(p.eval(`document.documentElement.scrollWidth`)); err != nil || got > width {
		p.t.Errorf("the page is %d px wide, not %d: %v", got, width, err)
	}
}

// A printed page has each section, on white, within its width, with up to 200 rows of each table.
func TestPrint(t *testing.T) {
	const paper = 718 // A4 without margins, in px
	p := open(t, 1400, 900, true)
	p.load(written(t, named(t, 1024)))
	rows := `document.querySelectorAll('table[aria-label="Totals of ranks"] tbody tr').length`
	before := p.eval(rows)
	p.eval(`addEventListener("beforeprint", () => { window.printed = ` + rows + `; })`)
	p.do("Page.printToPDF", object{})
	if got := p.eval(`printed`); got != "200" {
		t.Errorf("%s rows are printed", got)
	}
	if got := p.eval(rows); got != before {
		t.Errorf("%s rows after, %s before", got, before)
	}
	p.do("Emulation.setDeviceMetricsOverride", object{"width": paper, "height": 1000, "deviceScaleFactor": 1, "mobile": false})
	p.do("Emulation.setEmulatedMedia", object{"media": "print", "features": []object{{"name": "prefers-color-scheme", "value": "dark"}}})
	p.eval(`dispatchEvent(new Event("beforeprint"))`)
	p.fits(paper)
	if got := p.eval(`getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", got)
	}
	for _, id := range sections {
		if got := p.eval(fmt.Sprintf(`document.getElementById(%q).offsetHeight > 40`, id)); got != "true" {
			t.Errorf("section %s is not printed", id)
		}
	}
	if got := p.eval(`[...document.querySelectorAll("main *")].filter((e) => e.checkVisibility() && e.clientWidth > 0 && !e.closest("svg") && (e.scrollHeight > e.clientHeight + 4 && getComputedStyle(e).overflowY !== "visible" || e.getBoundingClientRect().right > innerWidth + 1)).map((e) => e.closest("table")?.ariaLabel + " " + e.tagName + "." + e.className + e.id).slice(0, 8).join()`); got != "" {
		t.Errorf("cut off: %s", got)
	}
}
