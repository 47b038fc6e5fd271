package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// PlotFormat returns the format that a file's name asks for, svg or png.
func PlotFormat(name string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".svg", ".png":
		return ext[1:], nil
	}
	return "", fmt.Errorf("a plot is .svg or .png, and %q is neither", filepath.Base(name))
}

var plotColors = []color.Color{
	color.RGBA{0x1f, 0x77, 0xb4, 0xff}, color.RGBA{0xff, 0x7f, 0x0e, 0xff}, color.RGBA{0x2c, 0xa0, 0x2c, 0xff}, color.RGBA{0xd6, 0x27, 0x28, 0xff},
	color.RGBA{0x94, 0x67, 0xbd, 0xff}, color.RGBA{0x8c, 0x56, 0x4b, 0xff}, color.RGBA{0xe3, 0x77, 0xc2, 0xff}, color.RGBA{0x7f, 0x7f, 0x7f, 0xff},
}

// maxCurves is how many groups a plot shows: those with most operations.
const maxCurves = 8

// WritePlot draws the groups: above, how many operations took how long; below,
// which share took not longer. Time is logarithmic.
func (l *Latencies) WritePlot(w io.Writer, format string) error {
	groups := l.Groups()
	if len(groups) > maxCurves {
		groups = groups[:maxCurves]
	}
	hist, cdf := newPlot("operations"), newPlot("share not longer")
	hist.Title.Text = "Latency of operations"
	cdf.X.Label.Text = "latency"
	for i, g := range groups {
		style := draw.LineStyle{Color: plotColors[i%len(plotColors)], Width: vg.Points(1.5)}
		counts := map[int]float64{}
		var curve plotter.XYs
		seen := uint64(0)
		low, high := math.MaxInt, math.MinInt
		g.Dist.Buckets(func(from, to int64, n uint64) bool {
			us := math.Max(float64(from+to)/2, 1) / 1e3
			bin := int(math.Floor(math.Log10(us) * 10))
			counts[bin] += float64(n)
			low, high = min(low, bin), max(high, bin)
			seen += n
			curve = append(curve, plotter.XY{X: us, Y: float64(seen) / float64(g.Dist.Count())})
			return true
		})
		var steps plotter.XYs
		for bin := low; bin <= high; bin++ {
			steps = append(steps, plotter.XY{X: math.Pow(10, float64(bin)/10), Y: counts[bin]})
		}
		steps = append(steps, plotter.XY{X: math.Pow(10, float64(high+1)/10), Y: 0})
		for _, c := range [...]struct {
			p     *plot.Plot
			xys   plotter.XYs
			steps plotter.StepKind
		}{{hist, steps, plotter.PostStep}, {cdf, curve, plotter.PostStep}} {
			line, err := plotter.NewLine(c.xys)
			if err != nil {
				return fmt.Errorf("plot of %s: %w", g.Name(), err)
			}
			line.LineStyle, line.StepStyle = style, c.steps
			c.p.Add(line)
			if c.p == hist {
				c.p.Legend.Add(fmt.Sprintf("%s (%d)", g.Name(), g.Dist.Count()), line)
			}
		}
	}
	cdf.Y.Min, cdf.Y.Max = 0, 1
	const width, height = 8 * vg.Inch, 6 * vg.Inch
	plots := [][]*plot.Plot{{hist}, {cdf}}
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Points(10), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(12)}
	paint := func(c draw.Canvas) {
		for i, cs := range plot.Align(plots, tiles, c) {
			plots[i][0].Draw(cs[0])
		}
	}
	if format == "svg" {
		c := vgsvg.New(width, height)
		paint(draw.New(c))
		_, err := c.WriteTo(w)
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(120))
	paint(draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func newPlot(y string) *plot.Plot {
	p := plot.New()
	p.Y.Label.Text = y
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = durationTicks{}
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	return p
}

// durationTicks marks decades of microseconds with a unit that fits.
type durationTicks struct{}

func (durationTicks) Ticks(low, high float64) (ts []plot.Tick) {
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		v := math.Pow(10, float64(e))
		ts = append(ts, plot.Tick{Value: v, Label: strings.Replace(string(appendDuration(nil, int64(math.Round(v*1e3)), "µs")), ".00", "", 1)})
		for _, m := range []float64{2, 5} {
			ts = append(ts, plot.Tick{Value: v * m})
		}
	}
	return ts
}

// WriteHDR writes the groups as an HdrHistogram log (version 1.3), a tag each,
// in ns.
func (l *Latencies) WriteHDR(w io.Writer) error {
	out := hdrhistogram.NewHistogramLogWriter(w)
	if err := out.OutputLogFormatVersion(); err != nil {
		return err
	}
	if err := out.OutputStartTime(l.first / 1e6); err != nil {
		return err
	}
	if err := out.OutputLegend(); err != nil {
		return err
	}
	for _, g := range l.Groups() {
		h := g.Dist.Histogram()
		start := g.Start
		if start == 0 {
			start = l.first
		}
		h.SetStartTimeMs(start / 1e6)
		h.SetEndTimeMs((start + l.interval) / 1e6)
		h.SetTag(strings.NewReplacer(", ", "/", " ", "-").Replace(g.Name()))
		if err := out.OutputIntervalHistogram(h); err != nil {
			return err
		}
	}
	return nil
}
