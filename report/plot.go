package report

import (
	"cmp"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// PlotFormat returns the format that a file's name asks for, svg or png.
func PlotFormat(name string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".svg", ".png":
		return ext[1:], nil
	}
	return "", fmt.Errorf("a plot is .svg or .png, and %q is neither", filepath.Base(name))
}

var (
	plotBlack  = color.RGBA{0, 0, 0, 0xff}
	plotGrid   = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	plotColors = [...]color.RGBA{
		{0x1f, 0x77, 0xb4, 0xff}, {0xff, 0x7f, 0x0e, 0xff}, {0x2c, 0xa0, 0x2c, 0xff}, {0xd6, 0x27, 0x28, 0xff},
		{0x94, 0x67, 0xbd, 0xff}, {0x8c, 0x56, 0x4b, 0xff}, {0xe3, 0x77, 0xc2, 0xff}, {0x7f, 0x7f, 0x7f, 0xff},
	}
)

// Places in a plot, in pixels of SVG; PNG has plotScale of them for each.
const (
	plotWidth, plotHeight = 1000, 700
	plotLeft, plotRight   = 70, 740
	plotLegend            = 760
	plotFont              = 12
	plotScale             = 2
	// maxCurves is how many groups a plot shows: those with most operations.
	maxCurves = 8
	// binsADecade is how finely the histogram is drawn.
	binsADecade = 10
)

// WritePlot draws the groups: above, how many operations took how long; below,
// which share took not longer. Time is logarithmic.
func (l *Latencies) WritePlot(w io.Writer, format string) error {
	groups := l.Groups()
	slices.SortStableFunc(groups, func(a, b *Group) int { return cmp.Compare(b.Dist.Count(), a.Dist.Count()) })
	left := 0
	if len(groups) > maxCurves {
		left = len(groups) - maxCurves
		groups = groups[:maxCurves]
	}
	curves := make([]curve, len(groups))
	for i, g := range groups {
		curves[i] = newCurve(g)
	}
	var c canvas = &svgCanvas{}
	if format == "png" {
		var err error
		if c, err = newPNGCanvas(); err != nil {
			return fmt.Errorf("plot: %w", err)
		}
	}
	drawPlot(c, curves, left)
	return c.writeTo(w)
}

// A curve is a group as it is drawn.
type curve struct {
	name   string
	bins   map[int]float64 // operations, by bin: binsADecade of them a decade of ns
	shares []share
}

// A share is how many, of 1, took not longer than a duration.
type share struct{ ns, of float64 }

func newCurve(g *Group) curve {
	c := curve{name: fmt.Sprintf("%s (%d)", g.Name(), g.Dist.Count()), bins: map[int]float64{}}
	seen := uint64(0)
	g.Dist.Buckets(func(from, to int64, n uint64) bool {
		ns := math.Max(float64(from+to)/2, 1)
		c.bins[int(math.Floor(math.Log10(ns)*binsADecade))] += float64(n)
		seen += n
		c.shares = append(c.shares, share{ns, float64(seen) / float64(g.Dist.Count())})
		return true
	})
	return c
}

// A panel is one of the two diagrams: both have the same durations below.
type panel struct {
	c           canvas
	low, high   int // bins
	top, bottom float64
	most        float64 // value at the top
}

func (p *panel) x(ns float64) float64 {
	at := (math.Log10(ns)*binsADecade - float64(p.low)) / float64(p.high-p.low)
	return plotLeft + at*(plotRight-plotLeft)
}

func (p *panel) y(v float64) float64 { return p.bottom - v/p.most*(p.bottom-p.top) }

// axes draws the grid, with a line at each multiple of step.
func (p *panel) axes(title string, step float64, label func(float64) string) {
	p.c.text(plotLeft, p.top-10, anchorStart, title)
	for v := 0.0; v <= p.most*1.0001; v += step {
		p.c.fill(plotLeft, p.y(v)-.5, plotRight, p.y(v)+.5, plotGrid)
		p.c.text(plotLeft-8, p.y(v)+4, anchorEnd, label(v))
	}
	for exp := p.low/binsADecade - 1; exp <= p.high/binsADecade+1; exp++ {
		for _, digit := range [...]float64{1, 2, 5} {
			ns := digit * math.Pow(10, float64(exp))
			x := p.x(ns)
			if x < plotLeft-.5 || x > plotRight+.5 {
				continue
			}
			p.c.fill(x-.5, p.top, x+.5, p.bottom, plotGrid)
			if digit == 1 || p.high-p.low <= 3*binsADecade {
				text := string(appendDuration(nil, int64(math.Round(ns)), "µs"))
				p.c.text(x, p.bottom+16, anchorMiddle, strings.NewReplacer(".00", "", ".0", "").Replace(text))
			}
		}
	}
	p.c.fill(plotLeft-.5, p.top, plotLeft+.5, p.bottom, plotBlack)
	p.c.fill(plotLeft, p.bottom-.5, plotRight, p.bottom+.5, plotBlack)
}

// line draws steps: up or down at each place, then level to the next.
func (p *panel) line(c color.RGBA, steps []share) {
	const half = .9
	for i := 1; i < len(steps); i++ {
		x0, y0, x1, y1 := p.x(steps[i-1].ns), p.y(steps[i-1].of), p.x(steps[i].ns), p.y(steps[i].of)
		p.c.fill(x0-half, y0-half, x1+half, y0+half, c)
		p.c.fill(x1-half, min(y0, y1)-half, x1+half, max(y0, y1)+half, c)
	}
}

func drawPlot(c canvas, curves []curve, left int) {
	low, high, most := math.MaxInt, math.MinInt, 0.0
	for _, c := range curves {
		for bin, n := range c.bins {
			low, high, most = min(low, bin), max(high, bin+1), max(most, n)
		}
	}
	if len(curves) == 0 {
		low, high = 3*binsADecade, 6*binsADecade
	}
	step := roundStep(most)
	hist := panel{c: c, low: low, high: high, top: 50, bottom: 330, most: max(step*math.Ceil(most/step), 1)}
	cdf := panel{c: c, low: low, high: high, top: 390, bottom: 670, most: 1}
	hist.axes("operations that took so long", step, func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) })
	cdf.axes("share that took not longer", .25, func(v float64) string { return strconv.FormatFloat(v*100, 'f', -1, 64) + " %" })
	at := func(bin int) float64 { return math.Pow(10, float64(bin)/binsADecade) }
	for i, curve := range curves {
		color := plotColors[i]
		steps := []share{{at(low), 0}}
		for bin := low; bin < high; bin++ {
			steps = append(steps, share{at(bin), curve.bins[bin]})
		}
		hist.line(color, append(steps, share{at(high), 0}))
		steps = append([]share{{at(low), 0}}, curve.shares...)
		cdf.line(color, append(steps, share{at(high), 1}))
		y := hist.top + 20*float64(i)
		c.fill(plotLegend, y, plotLegend+14, y+3, color)
		c.text(plotLegend+20, y+6, anchorStart, curve.name)
	}
	if left > 0 {
		c.text(plotLegend+20, hist.top+20*float64(len(curves))+6, anchorStart, fmt.Sprintf("and %d more, not drawn", left))
	}
}

// roundStep returns the distance of lines of a grid up to most: 1, 2 or 5 times
// a power of ten, such that there are some five of them.
func roundStep(most float64) float64 {
	step := 1.0
	for _, factor := 0, []float64{2, 2.5, 2}; most/step > 6; factor = append(factor[1:], factor[0]) {
		step *= factor[0]
	}
	return step
}

type anchor string

const (
	anchorStart  anchor = "start"
	anchorMiddle anchor = "middle"
	anchorEnd    anchor = "end"
)

// A canvas is what a plot is drawn on.
type canvas interface {
	// fill fills a rectangle.
	fill(x0, y0, x1, y1 float64, c color.RGBA)
	// text writes a line of text whose baseline is at y.
	text(x, y float64, at anchor, s string)
	writeTo(w io.Writer) error
}

type svgCanvas struct{ b []byte }

func (c *svgCanvas) fill(x0, y0, x1, y1 float64, fill color.RGBA) {
	c.b = fmt.Appendf(c.b, "<path d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\" fill=\"#%02x%02x%02x\"/>\n", x0, y0, x1, y1, x0, fill.R, fill.G, fill.B)
}

func (c *svgCanvas) text(x, y float64, at anchor, s string) {
	c.b = fmt.Appendf(c.b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, at, html.EscapeString(string(appendSafe(nil, s))))
}

func (c *svgCanvas) writeTo(w io.Writer) error {
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="%d">
<rect width="100%%" height="100%%" fill="white"/>
%s</svg>
`, plotWidth, plotHeight, plotFont, c.b)
	return err
}

type pngCanvas struct {
	img  *image.RGBA
	face font.Face
}

func newPNGCanvas() (*pngCanvas, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: plotFont * plotScale, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, err
	}
	c := &pngCanvas{img: image.NewRGBA(image.Rect(0, 0, plotWidth*plotScale, plotHeight*plotScale)), face: face}
	draw.Draw(c.img, c.img.Bounds(), image.White, image.Point{}, draw.Src)
	return c, nil
}

func (c *pngCanvas) fill(x0, y0, x1, y1 float64, fill color.RGBA) {
	at := func(v float64) int { return int(math.Round(v * plotScale)) }
	draw.Draw(c.img, image.Rect(at(x0), at(y0), at(x1), at(y1)), image.NewUniform(fill), image.Point{}, draw.Src)
}

func (c *pngCanvas) text(x, y float64, at anchor, s string) {
	d := font.Drawer{Dst: c.img, Src: image.Black, Face: c.face}
	x *= plotScale
	switch width := float64(d.MeasureString(s)) / 64; at {
	case anchorMiddle:
		x -= width / 2
	case anchorEnd:
		x -= width
	}
	d.Dot = fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * plotScale * 64)}
	d.DrawString(s)
}

func (c *pngCanvas) writeTo(w io.Writer) error { return png.Encode(w, c.img) }
