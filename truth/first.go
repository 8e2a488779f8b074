package truth

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/faultline-io/faultline/correlator"
)

// First is a first result: what was said of stories before anything was mended for them, a row of docs/truth.md.
type First struct {
	// Round is the number of a round of stories; empty for incidents from public threads.
	Round string
	// Name is what the row says of its stories; the halves of the incidents beside the project are "read" and "unread".
	Name  string
	Score Score
}

// ReadFirsts reads the tables of docs/truth.md whose rows have a commit and say how much was judged. A row whose counts are no numbers is an error that names it.
func ReadFirsts(r io.Reader) ([]First, error) {
	var out []First
	var head []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		row := strings.TrimSpace(lines.Text())
		if !strings.HasPrefix(row, "|") {
			head = nil
			continue
		}
		cells := strings.Split(strings.Trim(row, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case head == nil:
			head = cells
		case strings.HasPrefix(row, "|---"):
		default:
			first, is, err := readFirst(head, cells)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if is {
				out = append(out, first)
			}
		}
	}
	return out, lines.Err()
}

// readFirst reads one row, and says whether it is a first result.
func readFirst(head, cells []string) (First, bool, error) {
	f := First{Score: Score{Grades: map[Grade]int{}, Claims: map[string]int{}, Kept: map[string]int{}}}
	if !slices.Contains(head, "commit") || !slices.Contains(head, "judged") {
		return f, false, nil
	}
	if len(cells) != len(head) {
		return f, false, fmt.Errorf("%d cells below a head of %d", len(cells), len(head))
	}
	for i, column := range head {
		var err error
		switch column {
		case "round":
			f.Round = cells[i]
		case "family", "half":
			f.Name = cells[i]
		case "judged":
			f.Score.Judged, err = strconv.Atoi(cells[i])
		case "right", "wrong", "missed", "abstained":
			f.Score.Grades[Grade(column)], err = countIn(cells[i])
		case "false alarms":
			f.Score.Grades[Alarm], err = countIn(cells[i])
		case correlator.High, correlator.Medium:
			f.Score.Kept[column], f.Score.Claims[column], err = keptIn(cells[i])
		}
		if err != nil {
			return f, false, fmt.Errorf("column %q: %w", column, err)
		}
	}
	return f, true, nil
}

// countIn reads "33 (97 %)", or the number alone.
func countIn(cell string) (int, error) {
	n, _, _ := strings.Cut(cell, " ")
	return strconv.Atoi(n)
}

// keptIn reads "20 of 20"; a dash or nothing is none of none.
func keptIn(cell string) (kept, claims int, err error) {
	if cell == "" || cell == "-" || cell == "–" {
		return 0, 0, nil
	}
	_, err = fmt.Sscanf(cell, "%d of %d", &kept, &claims)
	return kept, claims, err
}

// Sum is first results added up under a name.
type Sum struct {
	Name  string
	Score Score
}

// lastFew is how many of the last rounds and sets are added up, beside the last one alone and all of them: rounds differ more than rules do, by what their
// writers were asked for, so that one of 34 stories says little.
const lastFew = 8

// Sums adds first results up: of rounds and of incidents the last, the last eight, and all. The two halves of the incidents beside the project are left out: they
// were judged more than once.
func Sums(firsts []First) []Sum {
	var rounds, sets []First
	for _, f := range firsts {
		switch {
		case f.Round != "":
			rounds = append(rounds, f)
		case f.Name != "read" && f.Name != "unread":
			sets = append(sets, f)
		}
	}
	add := func(of []First) Score {
		sum := Count(nil)
		for _, f := range of {
			sum = sum.Add(f.Score)
		}
		return sum
	}
	var out []Sum
	for _, kind := range []struct {
		one, many string
		firsts    []First
	}{{"round", "rounds", rounds}, {"set of incidents", "sets of incidents", sets}} {
		if len(kind.firsts) == 0 {
			continue
		}
		last := func(n int) []First { return kind.firsts[max(0, len(kind.firsts)-n):] }
		out = append(out,
			Sum{"the last " + kind.one, add(last(1))},
			Sum{fmt.Sprintf("the last %d %s", min(lastFew, len(kind.firsts)), kind.many), add(last(lastFew))},
			Sum{fmt.Sprintf("all %d %s", len(kind.firsts), kind.many), add(kind.firsts)})
	}
	return out
}
