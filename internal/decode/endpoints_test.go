package decode_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// TestEndpoints holds latencies against what the programs at the endpoints
// measured: all operations that they made, and no others, each time on the wire
// below theirs, which adds the way through the host, and of its order.
func TestEndpoints(t *testing.T) {
	us := func(v float64) time.Duration { return time.Duration(v * 1000) }
	for _, tt := range []struct {
		name     string
		kind     qp.OpKind
		size     uint64
		count    int
		min      time.Duration // as the endpoint says
		typical  time.Duration // the median
		mean     time.Duration // perftest leaves the two longest out, where it is not 0
		longest  time.Duration // perftest says the longest but one
		leastFor float64       // share of theirs that ours has at least
	}{
		// ib_read_lat -s 64 -n 100: t_min, t_typical, t_avg, t_max.
		{"siw/read-lat-s64.pcap.gz", qp.KindRead, 64, 100, us(665.29), us(10472.29), us(24820.24), us(438439.91), 0.9},
		// ib_send_lat and ib_write_lat -n 100 measure half of there and back, and
		// we the acknowledgement: 100 of each side.
		{"siw/send-lat-s64.pcap.gz", qp.KindSend, 64, 200, us(182.16), us(743.28), 0, 0, 0.25},
		{"siw/write-lat-s1001.pcap.gz", qp.KindWrite, 1001, 200, us(183.08), us(441.34), 0, 0, 0.25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := run(t, decode.Options{}, filepath.Join(pcaps, tt.name))
			var took []time.Duration
			n := 0
			for _, o := range r.ops {
				if o.Kind == tt.kind && o.Size == tt.size {
					n++
					if o.Status == qp.StatusOK {
						took = append(took, time.Duration(o.Latency))
					}
				}
			}
			// The last of a connection that is reset may never be acknowledged.
			if n != tt.count || len(took) < tt.count-1 {
				t.Fatalf("%d operations, %d of them done, want %d", n, len(took), tt.count)
			}
			slices.Sort(took)
			within := func(what string, ours, theirs time.Duration) {
				if theirs > 0 && (ours > theirs || ours < time.Duration(tt.leastFor*float64(theirs))) {
					t.Errorf("%s %v, the endpoint says %v", what, ours, theirs)
				}
			}
			within("median", took[len(took)/2], tt.typical)
			if took[0] > tt.min {
				t.Errorf("shortest %v, the endpoint says %v", took[0], tt.min)
			}
			within("longest but one", took[len(took)-2], tt.longest)
			var sum time.Duration
			for _, d := range took[:len(took)-2] {
				sum += d
			}
			within("mean", sum/time.Duration(len(took)-2), tt.mean)
		})
	}
}
