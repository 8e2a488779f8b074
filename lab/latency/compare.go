package latency

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of the intervals.
const Confidence = 0.95

// power is the chance of seeing a difference that is there, for which Runs is reckoned.
const power = 0.8

// Comparison is one phase with two providers, the second measured against the first. Times are seconds.
type Comparison struct {
	Phase       string  `json:"phase"`
	Base        Spread  `json:"base"`
	Other       Spread  `json:"other"`
	Percent     float64 `json:"difference_percent"` // of the means, against the base's
	Low         float64 `json:"low_percent"`        // interval of the difference, against the base's mean
	High        float64 `json:"high_percent"`
	P           float64 `json:"p_value"` // of a difference this large where there is none
	Significant bool    `json:"significant"`
	Runs        int     `json:"runs_needed"` // of each, to see a difference this large with 80 % certainty; 0: unknown
	Meaning     string  `json:"meaning"`
}

// Spread is what was measured of one provider.
type Spread struct {
	Provider  string  `json:"provider"`
	Runs      int     `json:"runs"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"standard_deviation"` // of the sample, with n − 1
}

// Compare is Welch's test: two means whose variances may differ (B. L. Welch, "The generalization of
// 'Student's' problem when several different population variances are involved", Biometrika 34, 1947), with
// the degrees of freedom of Welch and Satterthwaite.
func Compare(s *Samples, phase, base, other string) Comparison {
	a, b := s.Of(base, phase), s.Of(other, phase)
	c := Comparison{Phase: phase, Base: spread(base, a), Other: spread(other, b)}
	if len(a) == 0 || len(b) == 0 {
		c.Meaning = "nothing to compare: no run of one of them came to its end"
		return c
	}
	difference := c.Other.Mean - c.Base.Mean
	c.Percent = 100 * difference / c.Base.Mean
	if len(a) < 2 || len(b) < 2 {
		c.Low, c.High, c.P = c.Percent, c.Percent, 1
		c.Meaning = "one run says nothing of the spread: no conclusion"
		return c
	}
	va, vb := square(c.Base.Deviation)/float64(len(a)), square(c.Other.Deviation)/float64(len(b))
	if va+vb == 0 {
		c.Low, c.High, c.P = c.Percent, c.Percent, 1
		c.Meaning = "all runs took the same time: the test does not apply"
		return c
	}
	freedom := square(va+vb) / (square(va)/float64(len(a)-1) + square(vb)/float64(len(b)-1))
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}
	c.P = 2 * student.CDF(-math.Abs(difference)/math.Sqrt(va+vb))
	half := student.Quantile((1+Confidence)/2) * math.Sqrt(va+vb)
	c.Low, c.High = 100*(difference-half)/c.Base.Mean, 100*(difference+half)/c.Base.Mean
	c.Significant = c.P < 1-Confidence
	c.Runs = needed(difference, square(c.Base.Deviation)+square(c.Other.Deviation))
	if c.Significant {
		c.Meaning = fmt.Sprintf("more than chance (p = %.2g)", c.P)
	} else if c.Runs == 0 {
		c.Meaning = fmt.Sprintf("could be chance (p = %.2g)", c.P)
	} else {
		c.Meaning = fmt.Sprintf("could be chance (p = %.2g); about %d runs of each would tell", c.P, c.Runs)
	}
	return c
}

// maxRuns ends the search for a number of runs.
const maxRuns = 100_000

// needed is the smallest number of runs of each for which the sum of the two quantiles, with the degrees of
// freedom of that many runs, reaches the difference; 0 where no sensible number does.
func needed(difference, variances float64) int {
	if difference == 0 {
		return 0
	}
	for n := 2; n <= maxRuns; n += 1 + n/100 {
		student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(2*n - 2)}
		if square(student.Quantile((1+Confidence)/2)+student.Quantile(power))*variances/square(difference) <= float64(n) {
			return n
		}
	}
	return 0
}

func spread(provider string, x []float64) Spread {
	s := Spread{Provider: provider, Runs: len(x)}
	if len(x) > 0 {
		s.Mean = stat.Mean(x, nil)
	}
	if len(x) > 1 {
		s.Deviation = stat.StdDev(x, nil)
	}
	return s
}

func square(x float64) float64 { return x * x }
