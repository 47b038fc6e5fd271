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
	stats, err := decode.Run(src, j, decode.Options{Upper: decode.AutoUpper(), Messages: true, FPDUs: true, Operations: true,
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

// Every field has a description, and an object takes no field that the schema
// does not have, save an event those that its kind needs: so it is kept current.
func TestSchemaComplete(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.SchemaJSON))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		x, ok := v.(map[string]any)
		if !ok {
			return
		}
		fields, _ := x["properties"].(map[string]any)
		if more := x["additionalProperties"]; fields != nil && more != false && path != "event" {
			t.Errorf("%s takes other fields", path)
		}
		for name, f := range fields {
			f, _ := f.(map[string]any)
			if text, _ := f["description"].(string); text == "" && name != "record" && name != "schema" {
				t.Errorf("%s/%s has no description", path, name)
			}
			walk(path+"/"+name, f)
		}
		walk(path+"/*", x["additionalProperties"])
		walk(path+"/[]", x["items"])
	}
	defs := doc.(map[string]any)["$defs"].(map[string]any)
	for name, def := range defs {
		walk(name, def)
	}
	for _, name := range []string{"capture", "message", "operation", "fpdu", "event", "qp", "summary"} {
		if defs[name] == nil {
			t.Errorf("%s of the contract is not there", name)
		}
	}
}

// The schema refuses what the contract does: null, numbers for STags, times
// with other decimals, unknown fields.
func TestSchemaRefuses(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.SchemaJSON))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json") // as a user does, with all records in one
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"record":"message","qp":1,"n":3,"time":"2026-12-01T06:25:19.004512345Z","end_time":"2026-12-01T06:25:19.004512345Z",` +
		`"frame":12,"end_frame":12,"from":"initiator","src":"10.0.0.1:1","dst":"10.0.0.2:2","op":"rdma_write","size":3,"fpdus":1,"complete":true,"crc":"ok",` +
		`"stag":"0x0000a1b2","to":"0x00007f0000001000"}`
	valid := func(line string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		return s.Validate(v)
	}
	if err := valid(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"size":3`, `"size":null`},
		{`"size":3`, `"size":-1`},
		{`"size":3`, `"size":3,"colour":"red"`},
		{`"stag":"0x0000a1b2"`, `"stag":41394`},
		{`"stag":"0x0000a1b2"`, `"stag":"0xa1b2"`},
		{`.004512345Z","end`, `.004512Z","end`},
		{`"op":"rdma_write"`, `"op":"RDMA Write"`},
		{`"crc":"ok"`, `"crc":"good"`},
		{`"from":"initiator"`, `"from":"client"`},
		{`"qp":1`, `"qp":0`},
		{`"qp":1,`, ``},
		{`"record":"message"`, `"record":"packet"`},
	} {
		if line := strings.Replace(good, c[0], c[1], 1); line == good || valid(line) == nil {
			t.Errorf("%s for %s is taken", c[1], c[0])
		}
	}
}
