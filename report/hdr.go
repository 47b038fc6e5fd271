package report

import (
	"io"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

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
