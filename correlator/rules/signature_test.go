package rules

import (
	"slices"
	"testing"
)

// The words are found whatever stands around them: reading by one pass and by asking every signature agree.
func TestEverySignatureIsAskedForItsWords(t *testing.T) {
	for i := range table().signatures {
		for _, w := range table().signatures[i].Any {
			if !slices.Contains(asking("x "+w+" y"), i) {
				t.Errorf("%s is not asked about %q", table().signatures[i].ID, w)
			}
		}
	}
}
