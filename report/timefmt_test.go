package report

import "testing"

func TestTimeFormats(t *testing.T) {
	// 2.5 s behind the first frame, 0.25 s behind the line before.
	const now = first + 2_500000000
	for text, want := range map[string]string{
		"r": "2.500000000", "relative": "2.500000000",
		"a": "06:25:21.500000000", "u": "06:25:21.500000000",
		"ad": "2026-12-01 06:25:21.500000000", "ud": "2026-12-01 06:25:21.500000000",
		"d": "0.250000000", "dd": "0.250000000",
		"e": "1796106321.500000000", "epoch": "1796106321.500000000",
	} {
		f, err := ParseTimeFormat(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := string(f.appendTime(nil, now, first, now-250_000000)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "x", "R", "aa"} {
		if _, err := ParseTimeFormat(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	// A frame may lie before the first, in merged captures.
	if got := string(Relative.appendTime(nil, first-1, first, first)); got != "-0.000000001" {
		t.Error(got)
	}
	if got := string(appendSeconds(nil, -1<<63)); got != "-9223372036.854775808" {
		t.Error(got)
	}
}

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0ns", 1: "1ns", 999: "999ns", 1000: "1.00µs", 83_400: "83.4µs", 9_999: "10.0µs", 999_499: "999µs", 999_600: "1.00ms",
		1_000000: "1.00ms", 12_300000: "12.3ms", 456_000000: "456ms", 999_999999: "1.00s", 1_500000000: "1.50s", 3600_000000000: "3600s", -1: "?",
	} {
		if got := string(appendDuration(nil, ns, "µs")); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}
