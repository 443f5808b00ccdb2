package matrix

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// MaxPictureRows is the largest number of rows and columns of which a picture still shows each.
const MaxPictureRows = 1024

// A layout has the positions and sizes of the parts of a matrix's picture, in pixels.
type layout struct {
	cell, side          int // width and height of one cell, and of the whole matrix
	left, top           int
	width, height       int
	bar, barTop, barEnd int // x of the colour scale, and y of its top and bottom
	every               int // every how many rows and columns have a label
}

func (m *Matrix) layout(u Measure) layout {
	n := max(1, m.RowCount())
	l := layout{left: 64, top: 52}
	l.cell = max(1, min(40, 640/n))
	l.side = n * l.cell
	l.bar = l.left + l.side + 24
	l.width = max(l.bar+110, l.left+textWidth(m.TitleText(u))+12)
	l.barTop, l.barEnd = l.top, l.top+max(60, min(l.side, 240))
	l.height = max(l.top+l.side, l.barEnd) + 36
	l.every = 1
	for _, step := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} {
		if l.every = step; step*l.cell >= 36 {
			break
		}
	}
	if l.cell >= 14 && m.RanksPerRow == 1 && n <= 64 {
		l.every = max(1, 24/l.cell)
	}
	return l
}

// shade returns a colour for a number from 0 (light blue) to 1 (dark blue). The colours also differ if printed in grey.
func shade(x float64) color.RGBA {
	stops := [...][3]float64{{222, 235, 247}, {158, 202, 225}, {66, 146, 198}, {8, 81, 156}, {8, 32, 80}}
	x *= float64(len(stops) - 1)
	i := min(int(x), len(stops)-2)
	f := x - float64(i)
	mix := func(k int) uint8 { return uint8(stops[i][k]*(1-f) + stops[i+1][k]*f + 0.5) }
	return color.RGBA{mix(0), mix(1), mix(2), 255}
}

// TitleText returns the title of the matrix's picture, as one line.
func (m *Matrix) TitleText(u Measure) string {
	t := fmt.Sprintf("%s sent from rank (down) to rank (across)", u)
	if m.RanksPerRow > 1 {
		t += fmt.Sprintf(", %d ranks a cell", m.RanksPerRow)
	}
	return t
}

// WritePNG writes the matrix as a heat map in PNG, with a colour scale.
func (m *Matrix) WritePNG(w io.Writer, u Measure) error {
	l := m.layout(u)
	least, most := m.NonzeroMinMax(u)
	s := scale{least, most}
	img := image.NewRGBA(image.Rect(0, 0, l.width, l.height))
	fill(img, img.Bounds(), color.RGBA{255, 255, 255, 255})
	grey := color.RGBA{68, 68, 68, 255}
	box := image.Rect(l.left, l.top, l.left+l.side, l.top+l.side)
	fill(img, box.Inset(-1), color.RGBA{187, 187, 187, 255})
	fill(img, box, color.RGBA{247, 247, 247, 255})
	write(img, l.left, 12, m.TitleText(u), grey)
	for i, row := range m.Rows() {
		for _, e := range row {
			if v := u.Value(e.Cell); v > 0 {
				at := image.Pt(l.left+e.Column*l.cell, l.top+i*l.cell)
				fill(img, image.Rectangle{at, at.Add(image.Pt(l.cell, l.cell))}, shade(s.of(v)))
			}
		}
	}
	for i := 0; i < m.RowCount(); i += l.every {
		first, _ := m.RankRange(i)
		text := strconv.Itoa(first)
		at := i*l.cell + l.cell/2
		write(img, l.left-6-textWidth(text), l.top+at-glyphHeight/2, text, grey)
		write(img, l.left+at-textWidth(text)/2, l.top-8-glyphHeight, text, grey)
	}
	if most > 0 {
		height := l.barEnd - l.barTop
		for y := range height {
			fill(img, image.Rect(l.bar, l.barTop+y, l.bar+14, l.barTop+y+1), shade(1-float64(y)/float64(height)))
		}
		for _, v := range s.ticks() {
			y := l.barEnd - int(s.of(v)*float64(height))
			write(img, l.bar+20, y-glyphHeight/2, u.Text(v), grey)
		}
	}
	return png.Encode(w, img)
}

func fill(img *image.RGBA, r image.Rectangle, c color.RGBA) {
	r = r.Intersect(img.Bounds())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			img.SetRGBA(x, y, c)
		}
	}
}

// Height and width of a character in pixels. The font comes with a library, so that pictures look the same everywhere.
const glyphHeight, glyphWidth = 9, 7

func textWidth(s string) int { return glyphWidth * len(s) }

// write draws text with its upper left corner at pixel x, y.
func write(img *image.RGBA, x, y int, text string, c color.RGBA) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: basicfont.Face7x13, Dot: fixed.P(x, y+glyphHeight)}
	d.DrawString(text)
}
