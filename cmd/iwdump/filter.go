package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// A filter hands on the records for which an expression over the fields of
// their JSON holds. A field that a record does not have makes a comparison
// false.
type filter struct {
	sink    qp.Sink
	program *vm.Program
	absent  map[string]any // what stands for fields that a record does not have
	vm      vm.VM
	buf     bytes.Buffer
	json    *report.JSON
}

// newFilter compiles an expression (https://expr-lang.org).
func newFilter(text string) (*filter, error) {
	env, absent, err := fields()
	if err != nil {
		return nil, err
	}
	program, err := expr.Compile(text, expr.Env(env), expr.AsBool())
	if err != nil {
		return nil, fmt.Errorf("--filter: %s", explain(err, slices.Sorted(maps.Keys(env))))
	}
	f := &filter{program: program, absent: absent}
	f.json = report.NewJSON(&f.buf)
	return f, nil
}

// property is what a JSON Schema says of a field, as far as it matters here.
type property struct {
	Type       any
	Const      any
	Properties map[string]property
}

// fields returns the types of all fields of the records that are filtered, by
// the schema, and what stands for each where a record does not have it: a
// number that is equal to none, less than none and greater than none, or
// nothing.
func fields() (types.Map, map[string]any, error) {
	var schema struct {
		Defs map[string]property `json:"$defs"`
	}
	if err := json.Unmarshal(report.SchemaJSON, &schema); err != nil {
		return nil, nil, err
	}
	env, absent := types.Map{}, map[string]any{}
	add := func(name string, t types.Type, none any) {
		if old, ok := env[name]; ok && !old.Equal(t) {
			t = types.Any // of different types in different records
		}
		env[name] = t
		if _, ok := absent[name].(map[string]any); !ok {
			absent[name] = none
		}
	}
	for record, def := range schema.Defs {
		switch record {
		case "capture", "summary", "interval", "interface":
			continue
		}
		for name, p := range def.Properties {
			t, none := p.absent()
			add(name, t, none)
		}
	}
	for name, number := range report.EventFields {
		if _, ok := env[name]; ok {
			continue
		}
		if add(name, types.String, ""); number {
			env[name], absent[name] = types.Float64, math.NaN()
		}
	}
	return env, absent, nil
}

func (p property) absent() (types.Type, any) {
	_, truth := p.Const.(bool)
	switch {
	case p.Type == "integer":
		return types.Float64, math.NaN()
	case p.Type == "boolean" || truth:
		return types.Bool, false
	case p.Type == "object":
		none := map[string]any{}
		for name, q := range p.Properties {
			_, none[name] = q.absent()
		}
		return types.Any, none
	case p.Type == "array":
		return types.Any, []any{}
	}
	return types.String, ""
}

// complete puts into a record what stands for the fields that it does not have.
func complete(record, absent map[string]any) {
	for name, none := range absent {
		have, ok := record[name]
		inner, nested := none.(map[string]any)
		switch {
		case ok && nested:
			if m, ok := have.(map[string]any); ok {
				complete(m, inner)
			}
		case ok:
		case nested:
			m := map[string]any{}
			complete(m, inner)
			record[name] = m
		default:
			record[name] = none
		}
	}
}

// explain says what is wrong with an expression, where, and what may have been
// meant.
func explain(err error, fields []string) string {
	var at *file.Error
	if !errors.As(err, &at) {
		return err.Error()
	}
	text := fmt.Sprintf("column %d: %s", at.Column+1, at.Message)
	_, name, ok := strings.Cut(at.Message, "unknown name ")
	if !ok {
		return text
	}
	name = strings.Fields(name)[0]
	text = fmt.Sprintf("column %d: there is no field %q", at.Column+1, name)
	if near := nearest(name, fields); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return text
}

// nearest returns the names that are most like name, two at most.
func nearest(name string, fields []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var cs []candidate
	for _, f := range fields {
		d := distance(name, f)
		if strings.Contains(f, name) || len(f) > 3 && strings.Contains(name, f) {
			d = min(d, 2)
		}
		if d <= max(2, len(name)/3) {
			cs = append(cs, candidate{f, d})
		}
	}
	slices.SortStableFunc(cs, func(a, b candidate) int { return a.far - b.far })
	var near []string
	for _, c := range cs[:min(2, len(cs))] {
		near = append(near, c.name)
	}
	return near
}

// distance is how many letters must be changed, put in or left out to get from
// a to b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// holds says that the expression holds for the record that was just written.
func (f *filter) holds() bool {
	f.json.Flush()
	record := map[string]any{}
	err := json.Unmarshal(f.buf.Bytes(), &record)
	f.buf.Reset()
	if err != nil {
		return false
	}
	complete(record, f.absent)
	v, err := f.vm.Run(f.program, record)
	ok, _ := v.(bool)
	return err == nil && ok
}

func (f *filter) Message(m *qp.Message) {
	if f.json.Message(m); f.holds() {
		f.sink.Message(m)
	}
}

func (f *filter) FPDU(x *qp.FPDU) {
	if f.json.FPDU(x); f.holds() {
		f.sink.FPDU(x)
	}
}

func (f *filter) Operation(o *qp.Operation) {
	if f.json.Operation(o); f.holds() {
		f.sink.Operation(o)
	}
}

func (f *filter) Event(e *qp.Event) {
	if f.json.Event(e); f.holds() {
		f.sink.Event(e)
	}
}

func (f *filter) QP(s *qp.Summary) {
	if f.json.QP(s); f.holds() {
		f.sink.QP(s)
	}
}
