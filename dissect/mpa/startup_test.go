package mpa

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vector is one of the byte vectors that the packages below dissect share.
type vector struct {
	Name   string
	Hex    string
	Fields map[string]any
}

func vectors(t testing.TB) []vector {
	b, err := os.ReadFile("../../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vs []vector
	if err := json.Unmarshal(b, &vs); err != nil {
		t.Fatal(err)
	}
	return vs
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStartupVectors(t *testing.T) {
	n := 0
	for _, v := range vectors(t) {
		if !strings.HasPrefix(v.Name, "mpa_") {
			continue
		}
		n++
		t.Run(v.Name, func(t *testing.T) {
			b := unhex(t, v.Hex)
			s, n, err := ParseStartup(b)
			if err != nil || n != len(b) {
				t.Fatalf("got %d octets and %v, want %d", n, err, len(b))
			}
			bit := func(name string) bool { f, _ := v.Fields[name].(float64); return f == 1 }
			num := func(name string) int { f, _ := v.Fields[name].(float64); return int(f) }
			want := Startup{
				Reply: v.Fields["key"] == ReplyKey, Markers: bit("M"), CRC: bit("C"), Reject: bit("R"),
				Enhanced: bit("S"), Reserved: uint8(num("Res")), Revision: uint8(num("Rev")), PDLength: num("PD_Length"),
				PeerToPeer: bit("v2.A_peer_to_peer"), SendRTR: bit("v2.B_zero_len_send_rtr"),
				WriteRTR: bit("v2.C_zero_len_write_rtr"), ReadRTR: bit("v2.D_zero_len_read_rtr"),
				IRD: uint16(num("v2.IRD")), ORD: uint16(num("v2.ORD")),
			}
			private, _ := v.Fields["private_data"].(string)
			if p, ok := v.Fields["ulp_private_data"].(string); ok {
				private = p
			}
			want.Private = unhex(t, private)
			if d := cmp.Diff(want, s); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if got := s.Append(nil); hex.EncodeToString(got) != v.Hex {
				t.Errorf("Append gives\n%x, want\n%s", got, v.Hex)
			}
			for i := range b {
				if _, _, err := ParseStartup(b[:i]); !errors.Is(err, ErrShort) {
					t.Errorf("cut to %d octets: %v, want ErrShort", i, err)
				}
			}
		})
	}
	if n < 8 {
		t.Errorf("only %d vectors", n)
	}
}

func TestStartupErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		hex  string
		off  int
	}{
		{"wrong first octet", "00", 0},
		{"wrong key", "4d504120494420526571204672616d66", 0},
		{"neither q nor p", "4d5041204944205265722046", 0},
		{"PD_Length 513", "4d504120494420526571204672616d6540010201", 18},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ParseStartup(unhex(t, tt.hex))
			var f *FormatError
			if !errors.As(err, &f) || f.Off != tt.off {
				t.Errorf("got %v, want a FormatError at octet %d", err, tt.off)
			}
		})
	}
}

// S without room for the word of RFC 6581: the private data is what is there.
func TestStartupShortEnhanced(t *testing.T) {
	s, n, err := ParseStartup(unhex(t, "4d504120494420526571204672616d6550020002beef"))
	if err != nil || n != 22 {
		t.Fatalf("got %d, %v", n, err)
	}
	if s.HasEnhanced() || string(s.Private) != "\xbe\xef" {
		t.Errorf("got %+v", s)
	}
}

func FuzzStartup(f *testing.F) {
	for _, v := range vectors(f) {
		if strings.HasPrefix(v.Name, "mpa_") {
			f.Add(unhex(f, v.Hex))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, n, err := ParseStartup(b)
		if err != nil {
			return
		}
		if n < StartupLen || n > len(b) || n > StartupLen+MaxPrivateData {
			t.Fatalf("%d octets of %d", n, len(b))
		}
		if !s.Enhanced || s.HasEnhanced() {
			if got := s.Append(nil); string(got) != string(b[:n]) {
				t.Fatalf("Append gives\n%x, want\n%x", got, b[:n])
			}
		}
	})
}
