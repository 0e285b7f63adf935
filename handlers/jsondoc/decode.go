package jsondoc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

var (
	rawType         = reflect.TypeFor[json.RawMessage]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

// Decode stores the value in the pointer dst. Unlike encoding/json it matches
// member names by exact case, and takes json.RawMessage from the original bytes
// (which it then shares). Unknown members are skipped. It expects a value that
// already passed validation: an error means that schema and Go type disagree.
func (v Value) Decode(dst any) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("jsondoc: decode into %T", dst)
	}
	return v.decode(target.Elem())
}

func (v Value) decode(dst reflect.Value) error {
	t := dst.Type()
	if t == rawType {
		dst.SetBytes(v.Raw())
		return nil
	}
	if v.Kind() == Null {
		dst.SetZero()
		return nil
	}
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(unmarshalerType) {
		return dst.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(v.Raw())
	}
	switch t.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(t.Elem()))
		return v.decode(dst.Elem())
	case reflect.Struct:
		return v.decodeStruct(dst)
	case reflect.Slice:
		return v.decodeSlice(dst)
	case reflect.Map:
		return v.decodeMap(dst)
	case reflect.Interface:
		dst.Set(reflect.ValueOf(v.Any()))
		return nil
	}
	return v.decodeScalar(dst)
}

func (v Value) decodeScalar(dst reflect.Value) error {
	kind := v.Kind()
	switch dst.Kind() {
	case reflect.String:
		if kind == String || (kind == Number && dst.Type() == reflect.TypeFor[json.Number]()) {
			dst.SetString(v.Text())
			return nil
		}
	case reflect.Bool:
		if kind == True || kind == False {
			dst.SetBool(kind == True)
			return nil
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if i, err := strconv.ParseInt(v.Text(), 10, dst.Type().Bits()); kind == Number && err == nil {
			dst.SetInt(i)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if f, err := strconv.ParseFloat(v.Text(), dst.Type().Bits()); kind == Number && err == nil {
			dst.SetFloat(f)
			return nil
		}
	}
	return fmt.Errorf("jsondoc: value of kind %d does not fit %s", kind, dst.Type()) // the value itself may be secret
}

func (v Value) decodeStruct(dst reflect.Value) error {
	if v.Kind() != Object {
		return fmt.Errorf("jsondoc: not an object for %s", dst.Type())
	}
	fields := fieldsOf(dst.Type())
	var failed error
	v.Each(func(_ int, name string, child Value) bool {
		index, known := fields[name]
		if !known {
			return true
		}
		if err := child.decode(dst.Field(index)); err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
		return failed == nil
	})
	return failed
}

func (v Value) decodeSlice(dst reflect.Value) error {
	if v.Kind() != Array {
		return fmt.Errorf("jsondoc: not an array for %s", dst.Type())
	}
	count := 0
	v.Each(func(int, string, Value) bool { count++; return true })
	list := reflect.MakeSlice(dst.Type(), count, count)
	var failed error
	v.Each(func(i int, _ string, child Value) bool {
		failed = child.decode(list.Index(i))
		return failed == nil
	})
	dst.Set(list)
	return failed
}

func (v Value) decodeMap(dst reflect.Value) error {
	t := dst.Type()
	if v.Kind() != Object || t.Key().Kind() != reflect.String {
		return fmt.Errorf("jsondoc: not an object for %s", t)
	}
	dst.Set(reflect.MakeMap(t))
	var failed error
	v.Each(func(_ int, name string, child Value) bool {
		element := reflect.New(t.Elem()).Elem()
		failed = child.decode(element)
		dst.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), element)
		return failed == nil
	})
	return failed
}

// Any is the value in the standard decoder's terms, numbers as json.Number.
func (v Value) Any() any {
	switch v.Kind() {
	case True, False:
		return v.Kind() == True
	case Number:
		return json.Number(v.Text())
	case String:
		return v.Text()
	case Array:
		list := []any{}
		v.Each(func(_ int, _ string, child Value) bool {
			list = append(list, child.Any())
			return true
		})
		return list
	case Object:
		members := map[string]any{}
		v.Each(func(_ int, name string, child Value) bool {
			members[name] = child.Any()
			return true
		})
		return members
	}
	return nil
}
