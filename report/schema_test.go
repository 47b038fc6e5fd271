package report_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/report"
)

const pcaps = "../testdata/pcaps"

func captures(t testing.TB) []string {
	var names []string
	for _, pattern := range []string{"*.pcap", "*/*.pcap.gz"} {
		found, err := filepath.Glob(filepath.Join(pcaps, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) < 55 {
		t.Fatalf("only %d captures", len(names))
	}
	return names
}

func printJSON(t testing.TB, name string) string {
	src := capture.Open([]string{name}, nil, capture.Options{})
	defer src.Close()
	var out bytes.Buffer
	j := report.NewJSON(&out)
	stats, err := decode.Run(src, j, decode.Options{Messages: true, FPDUs: true, Operations: true,
		Begin: func(links []capture.LinkType, _ int64) { j.Capture([]string{name}, links) }})
	if err != nil {
		t.Fatal(err)
	}
	j.Summary(&stats)
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Every line of every shipped capture is what the schema says.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.SchemaJSON))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	// By the kind of record, so that an error says what is wrong with it.
	schemas := map[string]*jsonschema.Schema{}
	for _, record := range []string{"capture", "message", "operation", "fpdu", "event", "qp", "summary"} {
		s, err := c.Compile("schema.json#/$defs/" + record)
		if err != nil {
			t.Fatal(err)
		}
		schemas[record] = s
	}
	seen := map[string]int{}
	for _, name := range captures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			lines := strings.Split(strings.TrimSuffix(printJSON(t, name), "\n"), "\n")
			for i, line := range lines {
				v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
				if err != nil {
					t.Fatalf("%v in\n%s", err, line)
				}
				record, _ := v.(map[string]any)["record"].(string)
				if !strings.HasPrefix(line, `{"record":"`+record+`"`) || schemas[record] == nil {
					t.Fatalf("record is not the first key, or unknown:\n%s", line)
				}
				if first, last := record == "capture", record == "summary"; first != (i == 0) || last != (i == len(lines)-1) {
					t.Errorf("%s is line %d of %d", record, i+1, len(lines))
				}
				if err := schemas[record].Validate(v); err != nil {
					t.Fatalf("%v in\n%s", err, line)
				}
				seen[record]++
			}
		})
	}
	for record := range schemas {
		if seen[record] == 0 {
			t.Errorf("no %s in any capture", record)
		}
	}
}
