package control

import (
	"errors"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// Catalog is the `catalog` section: what may be asked for. A list that is empty takes anything, and what
// does not exist is then found out by whoever is asked to provide it, minutes later.
type Catalog struct {
	Pools     []string `yaml:"pools,omitempty"`
	Templates []string `yaml:"templates,omitempty"` // images of nodes, templates of providers
}

// Validate names the key that is wrong.
func (c Catalog) Validate() error {
	if slices.Contains(c.Pools, "") || slices.Contains(c.Templates, "") {
		return errors.New("catalog: pools and templates must not have empty names")
	}
	return nil
}

// check refuses what is not offered, before anything is written.
func (c Catalog) check(r Request) error {
	if len(c.Pools) > 0 && !slices.Contains(c.Pools, r.Pool) {
		return lifecycle.Refuse(lifecycle.UnknownPool, "pool "+r.Pool, "offered are "+list(c.Pools))
	}
	if len(c.Templates) > 0 && !slices.Contains(c.Templates, r.Image) {
		return lifecycle.Refuse(lifecycle.UnknownTemplate, "template "+r.Image, "offered are "+list(c.Templates))
	}
	return nil
}

// list names the first few.
func list(names []string) string {
	const few = 20
	if len(names) > few {
		return strings.Join(names[:few], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
