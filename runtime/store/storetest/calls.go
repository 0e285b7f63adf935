package storetest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Call is what a generated method sends: its query's name, text and arguments.
type Call struct {
	Name, Text string
	Args       []any
}

// Calls calls every generated query of queries, a *Queries on a connection that only records, with
// arguments that fit Bulk's rows. taken returns what was recorded since it was asked last.
func Calls(t *testing.T, queries any, taken func() (string, []any)) []Call {
	t.Helper()
	v := reflect.ValueOf(queries)
	var calls []Call
	for i := range v.NumMethod() {
		name, m := v.Type().Method(i).Name, v.Method(i)
		if name == "WithTx" || name == "Close" {
			continue
		}
		in := []reflect.Value{reflect.ValueOf(t.Context())}
		for p := 1; p < m.Type().NumIn(); p++ {
			in = append(in, sample("RunID", m.Type().In(p)))
		}
		m.Call(in)
		text, args := taken()
		require.Contains(t, text, "-- name: "+name+" ", "%s was not recorded", name)
		calls = append(calls, Call{Name: name, Text: text, Args: args})
	}
	require.NotEmpty(t, calls)
	return calls
}

// sample is a value for a parameter, by its name.
func sample(name string, typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			v.Field(i).Set(sample(typ.Field(i).Name, typ.Field(i).Type))
		}
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.String {
			v = reflect.Append(v, sample(strings.TrimSuffix(name, "s"), typ.Elem()))
		}
	case reflect.String:
		text, ok := samples[name]
		if !ok {
			text = "run-0100000"
		}
		v.SetString(text)
	default:
		v.SetInt(100_000)
	}
	return v
}

var samples = map[string]string{
	"Namespace": "default", "TaskQueue": "queue", "Kind": "workflow", "TypeName": "type", "WorkflowType": "type",
	"Status": "ready", "Compatibility": "", "Build": "", "FairnessKey": "", "LeaseOwner": "worker", "WorkerID": "worker",
	"Statuses": "", "TaskID": "task-0100000", "ExecutionID": "act-0100000", "WorkflowID": "wf-0100000",
}
