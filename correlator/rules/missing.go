package rules

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// missesByName says whether somebody does not find what a rollout named for the first time, by that name.
func missesByName(rollout, complaint *correlator.Event) bool {
	if complaint.HTTP.Status != http.StatusNotFound && !gone.Any(complaint.Text) {
		return false
	}
	before := strings.ToLower(rollout.Attr(semconv.From))
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(rollout.Attr(semconv.Config)+" "+rollout.To()), func(r rune) bool { return strings.ContainsRune(" \"',;=", r) }), func(name string) bool {
		if _, rest, found := strings.Cut(name, "://"); found { // a server's own line has the path alone
			name = rest[max(strings.IndexByte(rest, '/'), 0):]
		}
		return len(name) >= longThing && !strings.Contains(before, name) && strings.Contains(complaint.Text, name)
	})
}

// longThing is how long the name of a thing is, a file or a topic, that no other word of a text holds by chance.
const longThing = 12

// aFile finds the file that a rollout changed: "gres.conf".
var aFile = regexp.MustCompile(`(?:^|[/ ])([a-z][\w-]{3,})\.(?:conf|cfg|ini|ya?ml|json|toml|xml|properties|rules)$`)

// namesFile says whether somebody complains of what a file is about that a rollout changed, by the file's name, where that is no program's.
func namesFile(c *correlator.Case, rollout, complaint *correlator.Event) bool {
	if !ofSettings.Any(complaint.Text) {
		return false
	}
	m := aFile.FindStringSubmatch(strings.ToLower(rollout.Attr(semconv.Config)))
	if m == nil || slices.Contains(anyFile, m[1]) || correlator.LayerOfName(c.Profile, m[1]) != "" {
		return false
	}
	return namedIn(complaint.Text, m[1])
}

// ofSettings are the words of who complains of how something is set, and not of what it does.
var ofSettings = needles.Of("configur", "setting", "expected", "invalid", "not defined", "undefined", "not allowed", "unknown")

// anyFile are the names of files that say nothing of what they are about.
var anyFile = []string{"config", "configuration", "values", "settings", "application", "default", "defaults", "main", "local", "production", "policy", "rules", "override", "overrides", "custom", "deployment", "service", "options", "limits", "network", "security", "server"}

// refusedByName says whether somebody was refused by a thing that a rollout changed, which both name: a quota, a policy, a set of rules.
func refusedByName(rollout, complaint *correlator.Event) bool {
	kind, name, found := strings.Cut(strings.ToLower(rollout.Attr(semconv.Config)), "/")
	kept := found && kind != "" && !strings.ContainsAny(kind, ".: ") && !strings.ContainsAny(name, "/ =")
	return kept && len(name) >= longName && strings.Contains(complaint.Text, name) && refusedBy.Any(complaint.Text)
}

// refusedBy are the words of who is not let do what he wants to, by a rule that somebody made.
var refusedBy = needles.Of("forbidden", "denied", "exceeded quota", "not permitted", "violates", "blocked by")

// missesNew says whether a record misses a thing that bears in its name the version that a rollout brought.
func missesNew(e, rollout *correlator.Event) bool {
	version := strings.ToLower(cmp.Or(rollout.Attr(semconv.Version), rollout.To()))
	if len(version) < 3 || !strings.ContainsAny(version, "0123456789") || !gone.Any(e.Text) {
		return false
	}
	before, after, found := strings.Cut(e.Text, version)
	named := strings.HasSuffix(before, "-") || strings.HasSuffix(before, "_") || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "/")
	return found && named && (after == "" || !isWord(after[0]))
}

func isWord(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' }

// missedSince are the words, of any severity, of somebody who misses by its name what a rollout took away or changed.
func missedSince(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event) (out []*correlator.Event) {
	name := strings.ToLower(rollout.Attr(semconv.Component))
	if len(name) < longName || correlator.LayerOfName(c.Profile, name) != "" {
		return nil
	}
	c.Each(max(rollout.At, t.From-skewOfClocks), t.At, func(e *correlator.Event) {
		if !e.IsEvent() && e.Service != rollout.Service && e.Layer != semconv.LayerClient && c.Own(e, t) == (e.Node != "") && strings.Contains(e.Text, name) && gone.Any(e.Text) && len(out) < ownWords {
			out = append(out, e)
		}
	})
	return out
}

// missedNew are the words of the allocation's own, of any severity, of somebody who misses what bears the version that a rollout brought.
func missedNew(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event, known []*correlator.Event) (out []*correlator.Event) {
	version := strings.ToLower(cmp.Or(rollout.Attr(semconv.Version), rollout.To()))
	if len(version) < longName || !strings.ContainsAny(version, digits) {
		return nil
	}
	for _, e := range c.Events {
		if e.At >= max(rollout.At, t.From-skewOfClocks) && e.At <= t.At && !e.IsEvent() && !e.Failed() && strings.Contains(e.Text, version) && missesNew(e, rollout) && !slices.Contains(known, e) && len(out) < ownWords {
			out = append(out, e)
		}
	}
	return out
}

// longName is how long a component's name is that no other word of a text holds by chance.
const longName = 8

// gone are the words of something that is not there.
var gone = needles.Of("code 404", "code: 404", " 404 ", "not present", "not found", "not be found", "notfound", "is missing", "does not exist", "no such", "could not find", "cannot find")

// absentFile finds that somebody tells of a file that a server does not have.
var absentFile = regexp.MustCompile(`\bcode: ?404\b|\b404 (?:not found|for )`)

// missesGiven says whether the step's machine misses a file of a server's, after somebody told that it was given the version which a rollout brought.
func missesGiven(c *correlator.Case, t *correlator.Trouble, rollout, complaint *correlator.Event) bool {
	version := strings.ToLower(cmp.Or(rollout.Attr(semconv.Version), rollout.To()))
	party := complaint.Party()
	if party != semconv.LayerNode && party != semconv.LayerNodeAgent || len(version) < 4 || !strings.ContainsAny(version, digits) || !c.Own(complaint, t) || !absentFile.MatchString(complaint.Text) {
		return false
	}
	type key struct{ version string }
	named := c.Memo(key{version}, func() any {
		var out []*correlator.Event
		for _, e := range c.Events {
			if !e.IsEvent() && strings.Contains(e.Text, version) {
				out = append(out, e)
			}
		}
		return out
	}).([]*correlator.Event)
	return slices.ContainsFunc(named, func(e *correlator.Event) bool { return e.At >= rollout.At && e.At <= complaint.At && c.Own(e, t) })
}

// takenFrom is somebody's own word that what is missed, by its name, stands in the file which a rollout changed; nil where there is none.
func takenFrom(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event, complaints []*correlator.Event) *correlator.Event {
	file := strings.ToLower(rollout.Attr(semconv.Config))
	if file = file[strings.LastIndexByte(file, '/')+1:]; len(file) < longName || !aFile.MatchString(file) {
		return nil
	}
	missed := map[string]bool{}
	for _, e := range complaints {
		for _, name := range subjects(e.Text) {
			missed[name] = missed[name] || len(name) >= longName && gone.Any(e.Text)
		}
	}
	for _, e := range c.Events {
		if e.At < rollout.At || e.At > t.At+moment || e.IsEvent() || !strings.Contains(e.Text, file) {
			continue
		}
		if slices.ContainsFunc(subjects(e.Text), func(name string) bool { return missed[name] }) {
			return e
		}
	}
	return nil
}
