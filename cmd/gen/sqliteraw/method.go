package main

import (
	"errors"
	"fmt"
	"go/ast"
	"strings"
)

var errShape = errors.New("not a query this generator knows: one statement with fixed parameters " +
	"(for a list, pass a JSON array and use json_each)")

// method reads one of sqlc's methods.
func (p *pkg) method(f *ast.FuncDecl) (query, error) {
	q := query{name: f.Name.Name, doc: docLines(f.Doc)}
	m := header.FindStringSubmatch(p.texts[q.name])
	if m[1] != q.name {
		return q, fmt.Errorf("its text is named %s", m[1])
	}
	q.kind = m[2]
	for _, param := range f.Type.Params.List[1:] {
		if len(param.Names) != 1 || q.param.expr != "" {
			return q, fmt.Errorf("more than one parameter: set query_parameter_limit to 1")
		}
		q.param = value{expr: param.Names[0].Name, typ: typeName(param.Type)}
	}
	if err := p.readBinds(&q, f.Body); err != nil {
		return q, err
	}
	switch q.kind {
	case "exec", "execrows":
		return q, nil
	case "one", "many":
		q.result = strings.TrimPrefix(typeName(f.Type.Results.List[0].Type), map[string]string{"many": "[]"}[q.kind])
		return q, p.readColumns(&q, f.Body)
	}
	return q, fmt.Errorf(":%s is not supported", q.kind)
}

// readBinds finds the call that runs the query: its text is one argument, what is bound follows it.
func (p *pkg) readBinds(q *query, body *ast.BlockStmt) error {
	call, at := runs(body, q.name)
	if call == nil || call.Ellipsis.IsValid() {
		return errShape
	}
	for _, arg := range call.Args[at+1:] {
		v, err := p.typed(arg, q.param.expr, q.param.typ)
		if err != nil {
			return err
		}
		q.binds = append(q.binds, v)
	}
	return nil
}

func runs(body *ast.BlockStmt, name string) (found *ast.CallExpr, at int) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil {
			return found == nil
		}
		for i, arg := range call.Args {
			if id, ok := arg.(*ast.Ident); ok && id.Name == name {
				found, at = call, i
			}
		}
		return true
	})
	return found, at
}

// readColumns finds what the row is scanned into.
func (p *pkg) readColumns(q *query, body *ast.BlockStmt) (err error) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || err != nil || len(q.columns) > 0 {
			return err == nil
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Scan" {
			return true
		}
		for _, arg := range call.Args {
			ptr, ok := arg.(*ast.UnaryExpr)
			if !ok {
				err = errShape
				return false
			}
			v, e := p.typed(ptr.X, "", q.result)
			if e != nil {
				err = e
				return false
			}
			q.columns = append(q.columns, v)
		}
		return true
	})
	if err == nil && len(q.columns) == 0 {
		err = errShape
	}
	return err
}

// typed is an expression x or x.Field where x has type typ; a name limits x to it. For a field, the
// expression is the field's name alone.
func (p *pkg) typed(e ast.Expr, name, typ string) (value, error) {
	switch e := e.(type) {
	case *ast.Ident:
		if name == "" || e.Name == name {
			return value{typ: typ}, known(e.Name, typ)
		}
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && (name == "" || x.Name == name) {
			field := p.structs[typ][e.Sel.Name]
			return value{expr: e.Sel.Name, typ: field}, known(e.Sel.Name, field)
		}
	}
	return value{}, errShape
}

func known(name, typ string) error {
	if access[typ] == "" {
		return fmt.Errorf("%s has a type that no column has here (%q): columns are text, 64-bit integers or bytes, and never NULL", name, typ)
	}
	return nil
}

// access are the methods that bind and read a type, by the end of their names.
var access = map[string]string{"string": "Text", "int64": "Int64", "[]byte": "Blob"}
