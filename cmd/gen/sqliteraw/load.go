package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A pkg is what sqlc generated.
type pkg struct {
	texts   map[string]string            // query texts by constant
	structs map[string]map[string]string // field types by struct and field
	queries []query
}

// A query is one generated method.
type query struct {
	file    string // sqlc's file it is in
	name    string
	kind    string   // one, many, exec or execrows
	doc     []string // comment lines
	param   value    // the method's parameter besides the context; no name when it has none
	binds   []value  // what is bound, in order
	result  string   // type of a row, empty for exec and execrows
	columns []value  // what a row's columns are scanned into, in order
}

// A value is an expression and its type.
type value struct{ expr, typ string }

var header = regexp.MustCompile(`^-- name: (\w+) :(\w+)\n`)

// load reads sqlc's package.
func load(dir string) (*pkg, error) {
	paths, err := sources(dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{texts: map[string]string{}, structs: map[string]map[string]string{}}
	files := make([]*ast.File, len(paths))
	for i, path := range paths {
		if files[i], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments); err != nil {
			return nil, err
		}
		p.declarations(files[i])
	}
	for i, path := range paths {
		for _, d := range files[i].Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || p.texts[f.Name.Name] == "" {
				continue
			}
			q, err := p.method(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", filepath.Base(path), f.Name.Name, err)
			}
			q.file = path
			p.queries = append(p.queries, q)
		}
	}
	if len(p.queries) != len(p.texts) {
		return nil, fmt.Errorf("%d queries, but %d methods that run one", len(p.texts), len(p.queries))
	}
	return p, nil
}

// declarations notes a file's query texts and structs.
func (p *pkg) declarations(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				p.constant(spec)
			case *ast.TypeSpec:
				if s, ok := spec.Type.(*ast.StructType); ok {
					p.structs[spec.Name.Name] = fields(s)
				}
			}
		}
	}
}

func (p *pkg) constant(spec *ast.ValueSpec) {
	if len(spec.Values) != 1 {
		return
	}
	if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if text, err := strconv.Unquote(lit.Value); err == nil && header.MatchString(text) {
			p.texts[spec.Names[0].Name] = text
		}
	}
}

func fields(s *ast.StructType) map[string]string {
	out := map[string]string{}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			out[name.Name] = typeName(f.Type)
		}
	}
	return out
}

// typeName is a type as it is written, empty for those that queries do not use.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ArrayType:
		if elem := typeName(e.Elt); e.Len == nil && elem != "" {
			return "[]" + elem
		}
	}
	return ""
}

func docLines(g *ast.CommentGroup) (lines []string) {
	if g != nil {
		for _, c := range g.List {
			lines = append(lines, strings.TrimRight(c.Text, " "))
		}
	}
	return lines
}
