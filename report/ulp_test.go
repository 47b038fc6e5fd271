package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// repeated tells of a key that an object has twice.
func repeated(line string) error {
	d := json.NewDecoder(strings.NewReader(line))
	var walk func() error
	walk = func() error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		open, ok := t.(json.Delim)
		if !ok {
			return nil
		}
		keys := map[string]bool{}
		for d.More() {
			if open == '{' {
				k, err := d.Token()
				if err != nil {
					return err
				}
				if keys[k.(string)] {
					return fmt.Errorf("%q is there twice", k)
				}
				keys[k.(string)] = true
			}
			if err := walk(); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}
	if err := walk(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// No object has a key twice, whatever upper layers say.
func TestULPKeys(t *testing.T) {
	for _, name := range captures(t) {
		for line := range strings.Lines(printJSON(t, name)) {
			if err := repeated(line); err != nil {
				t.Fatalf("%s: %v in\n%s", name, err, line)
			}
		}
	}
	if repeated(`{"a":[{"b":1,"b":2}]}`) == nil {
		t.Error("a key that is there twice is not found")
	}
}

// The controllers are what the schema says.
func TestNVMeSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.SchemaJSON))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json#/$defs/nvme_controller")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{filepath.Join(pcaps, "nvme-rdma-read4k.pcap"), filepath.Join(pcaps, "siw/nvme-rdma-write4k.pcap.gz")}
	src := capture.Open(names, nil, capture.Options{})
	defer src.Close()
	n := report.NewNVMe()
	if _, err := decode.Run(src, n, decode.Options{Upper: decode.AutoUpper(), Operations: true}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := n.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d controllers", len(lines))
	}
	for _, line := range lines {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%v in\n%s", err, line)
		}
	}
}

// Fields nest in JSON as they were opened, and text is escaped.
func TestULPFields(t *testing.T) {
	d := &ulp.Description{Protocol: "x", Doubt: true, Text: []byte("a \"b\"\x1b")}
	f := &d.Fields
	f.OpenList("list", "List")
	f.OpenList("", "Inner")
	f.STag("", "", 1)
	f.Uint("", "", 2)
	f.Close()
	f.Open("", "Object")
	f.Bool("yes", "Yes", true)
	f.Close()
	f.Close()
	f.Open("empty", "Empty")
	f.Close()
	f.Text("last", "Last", "\"\n")
	var out bytes.Buffer
	j := report.NewJSON(&out)
	j.Message(&qp.Message{Conn: &qp.Conn{Number: 1}, N: 1, ULP: d})
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `"ulp":{"protocol":"x","doubt":true,"text":"a \"b\"\u001b","list":[["0x00000001",2],{"yes":true}],"empty":{},"last":"\"\u000a"}}`
	if !strings.HasSuffix(out.String(), want+"\n") {
		t.Errorf("%s\nis not\n%s", out.String(), want)
	}
}
