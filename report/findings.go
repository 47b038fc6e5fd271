package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/iwdump/iwdump/finding"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// WriteFindings writes findings for people, wrapped to width columns.
func WriteFindings(w io.Writer, fs []finding.Finding, st *decode.Stats, color bool, width int) error {
	out := NewWriter(w)
	var b []byte
	var n [3]int
	for i := range fs {
		f := &fs[i]
		n[f.Severity]++
		b = b[:0]
		lead, tint := "--", colorDim
		switch f.Severity {
		case qp.Error:
			lead, tint = "!!", colorRed
		case qp.Warning:
			lead, tint = "! ", colorYellow
		}
		head := fmt.Sprintf("%s %s: %s", lead, f.Severity, f.ID)
		if color {
			head = tint + head + colorReset
		}
		b = append(b, head...)
		if f.QP > 0 {
			b = fmt.Appendf(b, "  QP %d", f.QP)
		}
		if f.Frame > 0 {
			b = fmt.Appendf(b, "  frame %d", f.Frame)
		}
		if f.From != "" {
			b = fmt.Appendf(b, "  %s", f.From)
		}
		if f.Count > 1 {
			b = fmt.Appendf(b, "  %d times", f.Count)
		}
		b = append(b, '\n')
		b = wrap(b, "   ", string(appendSafe(nil, sentence(f.Detail))), width)
		b = wrap(b, "   ", f.Meaning, width)
		b = wrap(b, "   Next: ", f.Next, width)
		b = append(b, '\n')
		out.Write(b)
	}
	b = fmt.Appendf(b[:0], "%s, %s, %s in %s, %s\n", count(uint64(n[qp.Error]), "error"), count(uint64(n[qp.Warning]), "warning"),
		count(uint64(n[qp.Info]), "note"), count(st.QPs, "QP"), count(st.Frames, "frame"))
	out.Write(b)
	return out.Flush()
}

// sentence makes a sentence of what begins in lower case.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// wrap appends text in lines of up to width columns, the first behind lead, the
// others behind as many blanks.
func wrap(b []byte, lead, text string, width int) []byte {
	room := max(20, width-len(lead))
	for first := true; text != "" || first; first = false {
		line := text
		if len(line) > room {
			at := strings.LastIndexByte(line[:room+1], ' ')
			if at <= 0 {
				if at = strings.IndexByte(line, ' '); at < 0 {
					at = len(line)
				}
			}
			line = line[:at]
		}
		text = strings.TrimPrefix(text[len(line):], " ")
		b = append(b, lead...)
		b = append(b, line...)
		b = append(b, '\n')
		lead = strings.Repeat(" ", len(lead))
	}
	return b
}

// WriteFindingsJSON writes findings as JSON Lines, a record "finding" each.
func WriteFindingsJSON(w io.Writer, fs []finding.Finding) error {
	j := NewJSON(w)
	for i := range fs {
		f := &fs[i]
		o := j.begin("finding")
		o.word("severity", f.Severity.String())
		o.word("id", f.ID)
		if f.QP > 0 {
			o.int("qp", int64(f.QP))
		}
		if f.From != "" {
			o.word("from", f.From)
		}
		if f.Frame > 0 {
			o.uint("frame", f.Frame)
		}
		if f.N > 0 {
			o.int("n", int64(f.N))
		}
		o.uint("count", f.Count)
		o.text("detail", f.Detail)
		o.text("meaning", f.Meaning)
		o.text("next", f.Next)
		j.end()
	}
	return j.Flush()
}
