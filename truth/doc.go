// Package truth measures how often verdicts are right: it judges stories whose owner is known, counts right and wrong
// answers, abstentions and false alarms, and how often an answer was right by the confidence that it claimed.
//
// Stories come from folders of scenario files (internal/story) and from folders of OTLP/JSON files with an expected.json.
// What was said at first sight, before anything was mended for it, stands in docs/truth.md.
package truth
