package matrix

import (
	"image"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// Letters of PNG pictures are those of a fixed font that is part of a library:
// pictures look the same wherever they are made.
const glyphHeight, glyphWidth = 9, 7

func textWidth(s string) int { return glyphWidth * len(s) }

// write writes text with its upper left corner at a place.
func write(img *image.RGBA, x, y int, text string, c color.RGBA) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: basicfont.Face7x13, Dot: fixed.P(x, y+glyphHeight)}
	d.DrawString(text)
}
