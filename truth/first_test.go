package truth_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/truth"
)

var update = flag.Bool("update", false, "write the sums of docs/judging.md anew")

// What the rows of the page of first results add up to is told beside how verdicts come about: that page's lines stay as they are.
func TestTheRowsAreAddedUp(t *testing.T) {
	file, err := os.Open("../docs/truth.md")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	firsts, err := truth.ReadFirsts(file)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("\n| at first sight | judged | right | wrong | missed | abstained | false alarms | high | medium |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range truth.Sums(firsts) {
		var row strings.Builder
		s.Score.Row(&row, s.Name)
		cells := strings.Split(strings.TrimSpace(row.String()), "\t")
		_, _ = fmt.Fprintf(&want, "| %s |\n", strings.Join(cells[:len(cells)-1], " | ")) // no first result counts what was claimed with low confidence
	}
	want.WriteString("\n")
	doctest.Section(t, "../docs/judging.md", "The rows of [truth.md](truth.md) added up; `go test ./truth -update` writes this table.\n", "## Metrics\n", want.String(), *update)
}

const page = `
| round | date | commit | family | judged | right | wrong | missed | abstained | false alarms | high | medium |
|---|---|---|---|---|---|---|---|---|---|---|---|
| 1 | 2026-11-23 | 3a3cada | Go | 37 | 25 (68 %) | 6 (16 %) | 0 | 4 | 2 | 14 of 15 | 4 of 11 |
| 2 | 2026-11-23 | 3a3cadb and what follows | nodes | 30 | 30 (100 %) | 0 | 0 | 0 | 0 | 14 of 17 | – |

| round | one owner |
|---|---|
| 1 | 14 of 24 |

| date | commit | half | judged | right | wrong | missed | abstained | false alarms |
|---|---|---|---|---|---|---|---|---|
| 2026-11-23 | 3a3cada | unread | 27 | 9 (33 %) | 7 (26 %) | 2 | 9 | 0 |
| 2026-11-23 | 3a3cada | control planes | 30 | 19 (63 %) | 3 (10 %) | 2 | 6 | 0 |
`

// Rounds and incidents are added up apart; tables that count nothing, and halves that were judged more than once, are left out.
func TestSumsOfFirstResults(t *testing.T) {
	firsts, err := truth.ReadFirsts(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]truth.Score{}
	for _, s := range truth.Sums(firsts) {
		sums[s.Name] = s.Score
	}
	for name, want := range map[string]string{
		"the last round":               "30 30 0 0 14 17",
		"the last 2 rounds":            "67 55 6 2 28 32",
		"all 2 rounds":                 "67 55 6 2 28 32",
		"the last set of incidents":    "30 19 3 0 0 0",
		"all 1 sets of incidents":      "30 19 3 0 0 0",
		"the last 1 sets of incidents": "30 19 3 0 0 0",
	} {
		s := sums[name]
		if got := fmt.Sprint(s.Judged, s.Grades[truth.Right], s.Grades[truth.Wrong], s.Grades[truth.Alarm], s.Kept[correlator.High], s.Claims[correlator.High]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if len(sums) != 6 {
		t.Errorf("%d sums: %v", len(sums), sums)
	}
}

// A row that cannot be read is an error that says where it stands.
func TestFirstResultsThatCannotBeRead(t *testing.T) {
	for what, text := range map[string]string{
		`line 4: column "right": strconv.Atoi: parsing "many": invalid syntax`: strings.Replace(page, "25 (68 %)", "many", 1),
		`line 4: column "high": input does not match format`:                   strings.Replace(page, "14 of 15", "14 / 15", 1),
		"line 5: 11 cells below a head of 12":                                  strings.Replace(page, "| – |", "|", 1),
	} {
		if _, err := truth.ReadFirsts(strings.NewReader(text)); err == nil || err.Error() != what {
			t.Errorf("%v, want %s", err, what)
		}
	}
}
