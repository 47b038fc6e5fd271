package report

import (
	"fmt"
	"strings"

	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// upperCounts is what an Overview says of upper layers.
type upperCounts struct {
	carried      map[string]uint64 // QPs by protocol
	lats         map[string]*latency.Dist
	failed, open uint64
}

// add counts what a QP carries; u is nil where that is not known.
func (c *upperCounts) add(u *qp.UpperLayer) {
	if u == nil {
		return
	}
	if c.carried == nil {
		c.carried, c.lats = map[string]uint64{}, map[string]*latency.Dist{}
	}
	name := u.Title
	if u.Doubt {
		name += " (in doubt)"
	}
	c.carried[name]++
	c.failed += u.Failed
	c.open += u.Open
	for i := range u.Commands {
		l := &u.Commands[i]
		if c.lats[l.Name] == nil {
			c.lats[l.Name] = new(latency.Dist)
		}
		c.lats[l.Name].Merge(l.Dist)
	}
}

// appendCarried appends a line on what the QPs carry.
func (c *upperCounts) appendCarried(b []byte) []byte {
	sep := "carries   "
	for _, name := range sortedKeys(c.carried) {
		b = fmt.Appendf(b, "%s%s on %s", sep, name, count(c.carried[name], "QP"))
		sep = ", "
	}
	if len(c.carried) > 0 {
		b = append(b, '\n')
	}
	return b
}

// appendLatencies appends a table of the commands.
func (c *upperCounts) appendLatencies(b []byte, micro string) []byte {
	if len(c.lats) == 0 && c.failed+c.open == 0 {
		return b
	}
	names := sortedKeys(c.lats)
	width := 16
	for _, name := range names {
		width = max(width, len(name))
	}
	b = fmt.Appendf(b, "\ncommands %s    count       min       p50       p90       p99       max\n", strings.Repeat(" ", width-7))
	for _, name := range names {
		d := c.lats[name]
		b = fmt.Appendf(b, "  %-*s %8d", width, name, d.Count())
		for _, ns := range [...]int64{d.Min(), d.Percentile(50), d.Percentile(90), d.Percentile(99), d.Max()} {
			s := string(appendDuration(nil, ns, micro))
			b = append(b, strings.Repeat(" ", max(1, 10-len([]rune(s))))...)
			b = append(b, s...)
		}
		b = append(b, '\n')
	}
	if c.failed+c.open > 0 {
		b = fmt.Appendf(b, "  besides, %d failed and %d without an answer\n", c.failed, c.open)
	}
	return b
}
