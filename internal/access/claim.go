package access

import "strings"

// words reads a claim as a list: one, or words with blanks between them.
func words(claims map[string]any, name string) []string {
	switch v := find(claims, name).(type) {
	case string:
		return strings.Fields(v)
	case []any:
		return texts(v)
	}
	return nil
}

// names reads a claim as a list of names, or as one name: a tenant's may have blanks. Never nil.
func names(claims map[string]any, name string) []string {
	switch v := find(claims, name).(type) {
	case string:
		return texts([]any{v})
	case []any:
		return texts(v)
	}
	return []string{}
}

func texts(list []any) []string {
	out := []string{}
	for _, one := range list {
		if text, ok := one.(string); ok && text != "" {
			out = append(out, text)
		}
	}
	return out
}

// find gives a claim by its name or, where there is none, by its path.
func find(claims map[string]any, name string) any {
	if found, ok := claims[name]; ok {
		return found
	}
	found := any(claims)
	for part := range strings.SplitSeq(name, ".") {
		object, _ := found.(map[string]any)
		found = object[part]
	}
	return found
}
