package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill gives every field of a row a value of its own, so that swapped or forgotten columns show.
func fill[T any](seed int64) T {
	var row T
	v := reflect.ValueOf(&row).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(fmt.Sprintf("%s-%d", name, seed))
		case reflect.Int64:
			f.SetInt(seed*1000 + int64(i))
		case reflect.Slice:
			f.SetBytes([]byte(fmt.Sprintf(`{"%s":%d}`, name, seed)))
		}
	}
	return row
}

// mix is the first row with all fields of the second but the named ones.
func mix[T any](old, new T, fixed ...string) T {
	from, to := reflect.ValueOf(old), reflect.ValueOf(&new).Elem()
	for i := range to.NumField() {
		if slices.Contains(fixed, to.Type().Field(i).Name) {
			to.Field(i).Set(from.Field(i))
		}
	}
	return new
}

// set changes one string field.
func set[T any](row T, field, value string) T {
	reflect.ValueOf(&row).Elem().FieldByName(field).SetString(value)
	return row
}

func keyOf[T any](row T, field string) string {
	return reflect.ValueOf(row).FieldByName(field).String()
}

// same compares rows; a document that is empty equals one that is absent.
func same[T any](t *testing.T, want, got T, about ...any) {
	t.Helper()
	require.Equal(t, absent(reflect.ValueOf(want)).Interface(), absent(reflect.ValueOf(got)).Interface(), about...)
}

// absent is a copy of v with every empty slice nil.
func absent(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			break
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(absent(v.Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(absent(v.Field(i)))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(absent(v.Index(i)))
		}
	default:
		out.Set(v)
	}
	return out
}
