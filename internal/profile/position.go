package profile

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// badKey takes what is wrong with the key at a path within a document.
type badKey func(keys []any, format string, args ...any)

// keys is a path of names and indices.
func keys(path ...any) []any { return path }

// keyText is extract.patterns[0].regexp. The last name is left out where it only says more precisely
// what the message says already.
func keyText(path []any) string {
	var b strings.Builder
	for _, k := range path {
		switch k := k.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", k)
		case string:
			if k == "" {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(k)
		}
	}
	return b.String()
}

// at is file:line of the deepest key on the path that the document has.
func at(file string, text []byte, path ...any) string {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return file
	}
	node, line := root.Content[0], 0
	for _, k := range path {
		next, nextLine := child(node, k)
		if next == nil {
			break
		}
		node, line = next, nextLine
	}
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// child is the value under a name or index, and the line where it begins: for a name, the name's.
func child(n *yaml.Node, key any) (value *yaml.Node, line int) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch k := key.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && k < len(n.Content) {
			return n.Content[k], n.Content[k].Line
		}
	case string:
		if n.Kind != yaml.MappingNode {
			return nil, 0
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == k {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	}
	return nil, 0
}
