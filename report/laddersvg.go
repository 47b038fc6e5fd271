package report

import (
	"fmt"
	"html"
	"io"
)

// Sizes of the picture, in pixels.
const (
	svgRow   = 24
	svgLeft  = 150
	svgRight = 720
	svgWidth = 900
)

// WriteSVG draws the ladders as a picture.
func (l *Ladder) WriteSVG(w io.Writer, full bool) error {
	out := NewWriter(w)
	type laid struct {
		q    *ladderQP
		rows []row
	}
	var all []laid
	height := 10
	for _, q := range l.qps {
		rows := q.rows(full)
		lines := len(rows)
		for i := range rows {
			if rows[i].idle > 0 {
				lines++
			}
		}
		all = append(all, laid{q, rows})
		height += 80 + lines*svgRow
	}
	var b []byte
	b = fmt.Appendf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="white"/>
<defs><marker id="tip" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z"/></marker></defs>
`, svgWidth, height, svgWidth, height)
	y := 10
	for _, g := range all {
		b, y = l.svg(b, g.q, g.rows, y)
	}
	out.Write(append(b, "</svg>\n"...))
	return out.Flush()
}

func (l *Ladder) svg(b []byte, q *ladderQP, rows []row, y int) ([]byte, int) {
	text := func(x, y int, anchor, color, s string) {
		b = fmt.Appendf(b, `<text x="%d" y="%d" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, color, html.EscapeString(string(appendSafe(nil, s))))
	}
	left := q.left()
	text(svgLeft, y+16, "middle", "black", fmt.Sprintf("QP %d  %s", q.conn.Number, q.roles[left]))
	text(svgLeft, y+32, "middle", "#555", q.conn.Text[left])
	text(svgRight, y+16, "middle", "black", q.roles[left.Other()].String())
	text(svgRight, y+32, "middle", "#555", q.conn.Text[left.Other()])
	top := y + 40
	y = top + svgRow
	var opened [maxBrackets]int
	for i := range rows {
		r := &rows[i]
		if r.idle > 0 {
			text((svgLeft+svgRight)/2, y, "middle", "#888", "idle "+string(appendDuration(nil, r.idle, "µs")))
			y += svgRow
		}
		text(svgLeft-12, y+4, "end", "#555", string(appendSeconds(nil, r.time-l.first)))
		switch {
		case r.note != "":
			color := "#b58900"
			if r.gap {
				color = "#d33682"
			}
			b = fmt.Appendf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-dasharray="4 4"/>`+"\n", svgLeft, y, svgRight, y, color)
			text((svgLeft+svgRight)/2, y-4, "middle", color, r.note+times(r.count))
		default:
			from, to := svgLeft, svgRight
			if !r.right {
				from, to = to, from
			}
			b = fmt.Appendf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="black" marker-end="url(#tip)"/>`+"\n", from, y, to, y)
			text((svgLeft+svgRight)/2, y-4, "middle", "black", r.label+times(r.count))
		}
		for k, mark := range r.columns {
			switch mark {
			case opens:
				opened[k] = y
			case closes:
				x := svgRight + 12 + 10*k
				b = fmt.Appendf(b, `<path d="M%d %dh%dV%dh-%d" fill="none" stroke="#268bd2"/>`+"\n", svgRight+4, opened[k], x-svgRight-4, y, x-svgRight-4)
			}
		}
		if r.answers >= 0 {
			text(svgRight+14+10*maxBrackets, y+4, "start", "#268bd2", string(appendDuration(nil, r.latency, "µs")))
		}
		y += svgRow
	}
	for _, x := range [...]int{svgLeft, svgRight} {
		b = fmt.Appendf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#999" stroke-width="2"/>`+"\n", x, top, x, y)
	}
	return b, y + 16
}
