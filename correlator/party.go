package correlator

import (
	_ "embed"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Party is the layer of the component that a record speaks of at first hand: its emitter's own, or, where the emitter
// is one that watches others (Kubernetes events, kubelet, systemd, a container runtime, a kernel that ends a process, a
// load balancer's health checks), that of the component which it names (docs/contract.md §4).
func (e *Event) Party() string { return e.party }

// watchers are the programs that speak of others, by the first part of their names.
var watchers = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields("kubelet kubernetes k8s kube systemd journald journal containerd crio cri docker dockerd podman supervisord monit runit event events kernel " +
		"haproxy envoy nginx traefik keepalived lb loadbalancer blackbox prober healthcheck watchdog node launchd macos windows scm") {
		out[name] = true
	}
	return out
}()

// subjectAttributes name the component that a watcher speaks of, the likeliest first.
var subjectAttributes = []string{
	"k8s.container.name", "k8s.deployment.name", "k8s.statefulset.name", "k8s.daemonset.name", "k8s.job.name", "k8s.pod.name", "k8s.object.name",
	"systemd.unit", "unit", "_SYSTEMD_UNIT", "container", "container.name", "process.executable.name", semconv.Component, "peer.service",
}

// subjectWords are how watchers word whom they speak of; the name is the first group that is not empty. Sources: systemd's
// and kubelet's message catalogs, the kernel's oom_kill.c, HAProxy's health-check log, containerd's and Docker's events.
var subjectWords = regexp.MustCompile(
	`\b([a-z0-9][a-z0-9_.@-]*)\.(?:service|socket|mount|scope): ` + // systemd: "x.service: Main process exited"
		`|\b(?:unit|start|started|starting|stopped|stopping|restart) ([a-z0-9][a-z0-9_.@-]*)\.service\b` +
		`|restarting failed container[= ]"?([a-z0-9][a-z0-9-]*)` + // kubelet: BackOff
		`|\bcontainer(?:name)?[= ]"?([a-z0-9][a-z0-9-]+)"? (?:failed|was|died|exited|terminated|is not ready|in pod)` +
		`|\bpod[= ]"?(?:[a-z0-9-]+/)?([a-z0-9][a-z0-9-]+)` +
		`|cgroup out of memory: killed process \d+ \(([^)]+)\)` + // the kernel, of a container's own limit
		`|\(cgroup /(?:docker|[a-z.]+(?:/[^)/]+)*)/([a-z0-9][a-z0-9_.-]*)\)` + // the same, of a container by its control group
		`|oom-kill:constraint=constraint_memcg.*\btask=([^,]+)` +
		`|\bserver ([a-z0-9_.-]+/[a-z0-9_.-]+) (?:is (?:down|up|going)|failed, reason: layer7 wrong)` + // HAProxy
		`|\b(?:deployment|statefulset|daemonset|replicaset)[ /]"?([a-z0-9][a-z0-9-]+)` +
		`|\[(?:system|gui/\d+|user/\d+)/([a-z0-9._-]+)(?: \[\d+\])?:?\]:? service (?:exited|crashed|could not)` + // launchd
		`|\bthe ([a-z0-9][a-z0-9 ._-]*?) service (?:terminated|hung|failed to start|did not respond)`) // Windows' Service Control Manager

// killedForMemory finds the process that a kernel killed since its machine had no memory left (oom_kill.c). On a machine of the platform's own, of which no node is
// known, that process is the platform's service there.
var killedForMemory = regexp.MustCompile(`^out of memory: kill(?:ed)? process \d+ \(([^)]+)\)`)

// partyOf works out a record's party. Of most records it is their layer.
func partyOf(e *Event, p *profile.Profile) string {
	first, _, _ := strings.Cut(e.Service, "-")
	if e.Layer != "" && !watchers[strings.ToLower(first)] && !strings.HasPrefix(e.Text, "systemd[") || e.IsEvent() && isLifecycle(e.Name) {
		if e.Layer != "" && !e.IsEvent() && strings.Contains(e.Text, "crashloopbackoff") {
			return retold(p, e)
		}
		return e.Layer
	}
	if name := subject(p, e); name != "" {
		if layer := LayerOfName(p, name); layer != "" {
			return layer
		}
		if crashes(e.Text) {
			return "" // somebody of whom nobody knows whose work he does
		}
	}
	if e.Layer != "" {
		return e.Layer
	}
	return LayerOfName(p, e.Service)
}

// retold is whom somebody speaks of who repeats a watcher's word for a container that does not stay up: nobody can say that of himself. It is
// the speaker's layer where he names no component, and "" where he names one that nobody knows.
func retold(p *profile.Profile, e *Event) string {
	m := subjectWords.FindStringSubmatch(e.Text)
	if m == nil {
		return e.Layer
	}
	for _, name := range m[1:] {
		if name != "" {
			return LayerOfName(p, name)
		}
	}
	return e.Layer
}

// crashes says whether a watcher tells that a container does not stay up: that is the container's matter, and not the watcher's.
func crashes(text string) bool {
	return holdsAny(text, "back-off restarting", "crashloopbackoff", "oomkilled")
}

// subject is the name of the component that a watcher speaks of, "" where it names none: of several, the first that is known.
func subject(p *profile.Profile, e *Event) string {
	if m := killedForMemory.FindStringSubmatch(e.Text); m != nil && e.Node == "" && LayerOfName(p, m[1]) != "" {
		return m[1]
	}
	unknown := ""
	for _, key := range subjectAttributes {
		name := e.Attr(key)
		if name != "" && LayerOfName(p, name) != "" {
			return name
		}
		unknown = firstOf(unknown, name)
	}
	if unknown != "" {
		return unknown
	}
	if e.Layer != "" && !e.fails && !watches(e.Text) {
		return ""
	}
	for _, m := range subjectWords.FindAllStringSubmatch(e.Text, 3) {
		for _, name := range m[1:] {
			switch {
			case name == "":
			case LayerOfName(p, name) != "", strings.Contains(name, migration):
				return name
			default:
				unknown = firstOf(unknown, name)
			}
		}
	}
	return unknown
}

// watches says whether a text has a word of those that subjectWords looks for: asking costs less than matching.
func watches(text string) bool {
	return holdsAny(text, ".service", "container", "pod", "killed process", "oom-kill", " is down", "layer7 wrong", "deployment", "statefulset", "daemonset", " service exited", " service terminated")
}

// LayerOfName gives the layer of a component that somebody names: a service, container, pod, unit or host. The profile's
// catalog knows it whole or without what a replica adds to it; else the well-known programs do. "" where nobody does.
func LayerOfName(p *profile.Profile, name string) string {
	name = strings.ToLower(name)
	if first, _, _ := strings.Cut(name, "-"); carriesTelemetry[first] || strings.Contains(name, migration) {
		return "" // what it is in trouble with is what is known, not what is done
	}
	for whole := name; whole != ""; {
		if layer := p.Layer(whole, "", noAttribute); layer != "" {
			return layer
		}
		i := strings.LastIndexAny(whole, "-./@_:")
		if i < 0 {
			break
		}
		whole = whole[:i]
	}
	best := len(programs())
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if i, ok := programPlace()[part]; ok {
			best = min(best, i)
		}
	}
	if best < len(programs()) && p.Knows(programs()[best].Layer) {
		return programs()[best].Layer
	}
	return ""
}

// migration is in the names of what changes a database's form when something is rolled out, and then ends: it is neither the database nor what was rolled out.
const migration = "migration"

// carriesTelemetry are the programs that carry records and do no work for an allocation, by the first part of their names.
var carriesTelemetry = map[string]bool{"otel": true, "otelcol": true, "opentelemetry": true, "telemetry": true, "fluent": true, "fluentbit": true, "fluentd": true, "promtail": true, "logstash": true, "filebeat": true, "alloy": true}

func noAttribute(string) string { return "" }

//go:embed programs.yaml
var programText []byte

// program is one line of programs.yaml.
type program struct {
	Layer string   `yaml:"layer"`
	Names []string `yaml:"names"`
}

// programs is the parsed table; it is embedded, so an error is a mistake of the build, found by any test.
var programs = sync.OnceValue(func() []program {
	list, err := config.Parse("programs.yaml", programText, []program(nil))
	if err != nil {
		panic(err)
	}
	return list
})

var programPlace = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for i, line := range programs() {
		for _, name := range line.Names {
			if _, ok := out[name]; !ok {
				out[name] = i
			}
		}
	}
	return out
})

// Onward says whether one layer stands behind another on the way of a call, or of an order.
func Onward(from, to string) bool {
	a, b := slices.Index(way, from), slices.Index(way, to)
	return a >= 0 && b > a
}

// way is the chain of orders from who asks to who does the work (docs/domain.md §4.10, rule 2).
var way = []string{
	semconv.LayerClient, semconv.LayerIngress, semconv.LayerAPIAuth, semconv.LayerAPI, semconv.LayerDB, semconv.LayerOutbox,
	semconv.LayerWorkflow, semconv.LayerProvider, semconv.LayerNodeAgent, semconv.LayerNode,
}

// Names says whether an event speaks of a node: by its identifier, or by naming it in its words.
func Names(e *Event, node string) bool {
	if node == "" {
		return false
	}
	if e.Node != "" {
		return e.Node == node
	}
	return e.Attr(semconv.HostName) == node || mentions(e.Text, strings.ToLower(node)) ||
		mentions(strings.ToLower(e.Attr(semconv.TLSPeerSubject)), strings.ToLower(node))
}

// NodeWords are the words of an event that may name a node, in lower case: its identifier or host's name, and every word of
// what it says.
func NodeWords(e *Event) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(strings.ToLower(firstOf(e.Node, e.Attr(semconv.HostName)))) {
			return
		}
		for _, text := range []string{e.Text, strings.ToLower(e.Attr(semconv.TLSPeerSubject))} {
			for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) }) {
				if !yield(word) {
					return
				}
			}
		}
	}
}

// mentions finds a whole word; "node-1" is not mentioned by "node-12".
func mentions(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func wordByte(b byte) bool {
	return b == '-' || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z'
}
