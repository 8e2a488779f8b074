package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// statement is what a record says of whom: a party of itself, or of somebody whom it could not use.
type statement struct {
	event *correlator.Event
	party string // who speaks, or of whom a watcher speaks
	about string // whom it could not use; "" where it speaks of itself
	echo  bool   // it says nothing of itself: that something took too long, what others answered
	cause bool   // its words name a cause of the party's own

	answeredFailing bool // that somebody was answered, and with an error of the called
}

// answeredWords find an answer of others that somebody repeats: "result refused: 409 conflict".
var answeredWords = regexp.MustCompile(`\b(?:refused|rejected|answered|returned|responded|got|received|status|code)\b[^0-9]{0,24}\b[45]\d\d\b|\b[45]\d\d (?:client|server) error\b|\bhttp [45]\d\d\b|exception: 50[234]\b|\b4\d\d (?:conflict|gone|precondition failed|unprocessable entity)\b`)

// unusable are the words of a caller whose callee did not do what it should: errno, gRPC and HTTP words of a broken call.
var unusable = needles.Of(
	"refused", "timed out", "timeout", "unavailable", "unreachable", "reset by peer", "connection reset", "eof", "broken pipe", "no response", "no reply", "no confirm", "not respond", "unable to connect",
	"failed to connect", "could not connect", "cannot connect", "can't connect", "connection error", "connect to", "unable to reach", "could not reach", "cannot reach",
	"server error", "internal error", "bad gateway", "gateway time", " 500", " 502", " 503", " 504", "lost connection", "connection lost", "disconnected", "deadline", "unable to handle the request", "unable to retrieve",
	"operationalerror", "connectionerror", "databaseerror", "programmingerror", "internalerror", "server-side error",
)

// givenUp are the words of somebody whose patience with others was over: a consequence.
var givenUp = needles.Of(
	"timed out waiting", "timeout waiting", "not yet propagated", "not polling", "propagation check failed", "waiting for", "not claimed", "no result", "retries exhausted", "max retries", "maximum retry", "gave up", "giving up", "aborting", "deadline of", "deadline exceeded",
	"within the deadline", "in time", "did not become", "never ", "did not report", "not ready after", "has not", "no heartbeat", "lease expired", "took too long", "still ", "exceeded its", "retrying", "will retry",
	"httpclient.timeout", "client.timeout", "timeoutexception", "timeouterror", "readtimeout", "requeuing", "reconciler error", "marking node failed", "is not available", "not available", "is not accessible", "no agent has connected", "placement failure", "ttl expired", "allocation stuck", "stuck in ", "not making progress", "no progress",
	"not registered within", "waiting for node", "not called back", "did not call back", "agent lost", "runner lost", "worker lost", "node lost", "marked as lost", "moved to provision state", "marking node failed", "alarm ", "no workflow started",
)

// ofItself are the words of a party for a failure inside it: exceptions, what it could not read, decode, load or begin, what it
// refuses for a reason of its own.
var ofItself = needles.Of(
	"traceback", "exception", "unhandled", "uncaught", "assert", "crash", "segfault", "aborted (", "terminating", "unrecoverable", "corrupt", "malformed", "failed to decode", "failed to parse",
	"failed to encode", "encode result", "failed to marshal", "failed to serialize", "failed to load", "failed to open", "failed to read", "failed to write", "failed to start", "failed to restore", "failed to initialize", "failed to initialise", "failed to create", "failed to allocate",
	"failed to apply", "failed to process", "failed to handle", "failed during", "could not parse", "could not decode", "could not load", "could not open", "cannot parse", "cannot decode", "cannot open", "unable to parse", "unable to load", "could not initialize", "could not restore", "unable to initialize", "unable to restore",
	"unexpected end", "unexpected token", "unexpected value", "invalid state", "illegal state", "nil pointer", "null reference", "nullpointer", "undefined method", "index out of range", "typeerror", "keyerror", "valueerror", "attributeerror", "runtimeerror",
	"is deprecated", "no longer supported", "not supported", "older than the last", "too old", "exited", "exit code", "exit status", "sigterm", "sigkill", "blocked", "stuck", "wedged", " hung", "deadlock", "overflow", "out of range", "limit reached",
	"fatal:", "[emerg]", "[alert]", "[crit]", "cannot allocate", "lost quorum", "not up to date", "wrong ownership", "incompatible", "no longer available", "deserializ", "is not supplied", "activation failed", "unable to persist",
	"out of shared memory", "misconfigur", "larger than max", "message too large", "syntaxerror", "import error", "database is closed", "leader election lost",
	"cannot be processed", "stall", "slowness", "being killed", "pool exhausted", "out of memory", "poison", closedItself, "errno", "oserror", "ioerror", "violat", "inconsistent", "conflict",
)

// closedItself are the words of a program (Go) that goes on using a connection which it closed itself.
const closedItself = "use of closed network connection"

// brokenOff are the words of a connection that somebody else ended or never took: whoever says so and names nobody speaks of one he does not name.
var brokenOff = needles.Of("reset by peer", "connection reset", "broken pipe", "connection refused", "connection timed out", "connection aborted", "connection was aborted", "forcibly closed", "unexpected eof")

// ofCertificates are the words of a handshake that failed for a certificate, or of a library that does not like one (Java, OpenSSL, Go, Python, .NET).
var ofCertificates = needles.Of("certificateexception", "sslhandshakeexception", "certificate verify failed", "sslcertverificationerror", "x509: ", "authenticationexception: the remote certificate", "certpathvalidatorexception")

// drivers are the names by which a program speaks of whom it calls: client libraries and protocols.
var drivers = []struct {
	word, layer string
}{
	{"pymysql", semconv.LayerDB}, {"oslo_db", semconv.LayerDB}, {"mysqlclient", semconv.LayerDB}, {"psycopg", semconv.LayerDB}, {"sqlalchemy", semconv.LayerDB}, {"sqlstate", semconv.LayerDB}, {"pgx", semconv.LayerDB},
	{"pg::", semconv.LayerDB}, {"pq: ", semconv.LayerDB}, {"npgsql", semconv.LayerDB}, {"hikaripool", semconv.LayerDB}, {"jdbc", semconv.LayerDB}, {"redis", semconv.LayerDB}, {"cassandra", semconv.LayerDB}, {"mongo", semconv.LayerDB}, {"dqlite", semconv.LayerDB}, {"etcd", semconv.LayerDB}, {"database", semconv.LayerDB}, {"commit: ", semconv.LayerDB}, {"tx.commit", semconv.LayerDB}, {"all in commit", semconv.LayerDB}, {"statement commit", semconv.LayerDB},
	{"amqp", semconv.LayerOutbox}, {"kafka", semconv.LayerOutbox}, {"rdkafka", semconv.LayerOutbox}, {"nats:", semconv.LayerOutbox}, {"jetstream", semconv.LayerOutbox}, {"rabbitmq", semconv.LayerOutbox},
	{"keycloak", semconv.LayerAPIAuth}, {"jwks", semconv.LayerAPIAuth}, {"oidc", semconv.LayerAPIAuth}, {"openid-connect/", semconv.LayerAPIAuth}, {"authorino", semconv.LayerAPIAuth}, {"openpolicyagent", semconv.LayerAPIAuth}, {"vault", semconv.LayerAPIAuth},
	{"ipmi", semconv.LayerProvider}, {"redfish", semconv.LayerProvider}, {"bmc", semconv.LayerProvider}, {"ironic", semconv.LayerProvider}, {"maas", semconv.LayerProvider}, {"libvirt", semconv.LayerProvider}, {"aap ", semconv.LayerProvider},
	{"awx", semconv.LayerProvider}, {"temporal", semconv.LayerWorkflow},
	{"list of server apis", semconv.LayerAPI}, {"the server is currently unable to handle the request", semconv.LayerAPI},
}

// dialled finds hosts and ports that a text names.
var dialled = regexp.MustCompile(`(?:https?|tcp|grpc|amqps?|postgres(?:ql)?|nats|redis)://(?:[^@/\s"']+@)?([a-z0-9][a-z0-9.-]*)(?::(\d+))?|\b([a-z0-9][a-z0-9.-]*):(\d{2,5})\b`)

// prefixed finds whom a wrapped error begins with: "authorization service: post …: context deadline exceeded".
var prefixed = regexp.MustCompile(`^([a-z0-9][a-z0-9-]*) (?:service|server|api|backend): `)

// becauseWords find whom somebody blames for what it had to do itself: "demoting self because DCS is not accessible".
var becauseWords = regexp.MustCompile(`\bbecause (?:the )?([a-z0-9][a-z0-9. -]{0,40}?) (?:is|was|are|were) (?:not accessible|not available|unavailable|unreachable|not reachable|down|not responding)\b`)

// awayWords find whom a text calls unavailable: "provisioning service is unavailable".
var awayWords = regexp.MustCompile(`\b([a-z0-9][a-z0-9.-]*)(?: (?:service|server|backend|endpoint|api))? (?:is |was )?(?:unavailable|unreachable|not responding|timed out|did not respond|did not answer|not reachable)\b`)

// refusedWords find that somebody asked another one and was refused or failed, with the status.
var refusedWords = regexp.MustCompile(`https?://\S+ (?:40[13]|5\d\d)\b`)

// gaveUpFor says whether a party gave up its part because of somebody else, and tells of that one's refusal as well.
func gaveUpFor(c *correlator.Case, t *correlator.Trouble, party string) bool {
	because, refused := false, false
	for _, e := range c.Beside(t, telling) {
		if e.Party() == party {
			because = because || becauseWords.MatchString(e.Text)
			refused = refused || refusedWords.MatchString(e.Text)
		}
	}
	return because && refused
}

// portLayers are where the usual services listen (IANA's registry and the programs' own documentation).
var portLayers = map[string]string{
	"5432": semconv.LayerDB, "6432": semconv.LayerDB, "3306": semconv.LayerDB, "2379": semconv.LayerDB, "6379": semconv.LayerDB, "27017": semconv.LayerDB, "26257": semconv.LayerDB, "8008": semconv.LayerDB,
	"4222": semconv.LayerOutbox, "9092": semconv.LayerOutbox, "5672": semconv.LayerOutbox, "5671": semconv.LayerOutbox,
	"7233": semconv.LayerWorkflow, "53": semconv.LayerNetwork, "623": semconv.LayerProvider, "6385": semconv.LayerProvider, "5240": semconv.LayerProvider, "8200": semconv.LayerAPIAuth,
}

// stated reads what a record says of whom.
func stated(c *correlator.Case, e *correlator.Event) statement {
	r := readingOf(e)
	if r.shared() {
		return state(c, e)
	}
	if !r.within(c).stated {
		r.statement, r.stated = state(c, e), true
	}
	return r.statement
}

func state(c *correlator.Case, e *correlator.Event) statement {
	s := statement{event: e, party: e.Party(), answeredFailing: strings.Contains(e.Text, "50") && answersFailing.MatchString(e.Text)}
	if ofSleeper(c, e) {
		s.echo = true // who did not run tells of others what was long before
		return s
	}
	if m := why(e.Text); m != nil {
		if s.about = correlator.LayerOfName(c.Profile, m[1]); s.about == s.party {
			s.about = ""
		}
		s.echo = true
		return s
	}
	if hinted(e) != nil {
		s.cause = true
		if l := hinted(e).owner(c, e); l != "" && l != s.party {
			s.about = l
		}
		return s
	}
	if s.about = callee(c, e); s.about == "" && s.party != semconv.LayerCert && c.Profile.Knows(semconv.LayerCert) && ofCertificates.Any(e.Text) {
		s.about = semconv.LayerCert
	}
	s.echo = harmless.Any(e.Text) || e.Severity < 17 && strings.Contains(e.Text, "is deprecated") || strings.HasSuffix(e.Text, "?") || // who asks does not know
		!servedItself(e) && !strings.Contains(e.Text, closedItself) && (wrapper(e) || e.HTTP.Status >= 400 || e.Severity < 13 && s.party == e.Layer ||
			!ofItself.Any(e.Text) && e.Severity < severityFatal && !ofLeaf(e) || ofAChild(e) || ofAPart(e) || givenUp.Any(e.Text) || s.about == "" && brokenOff.Any(e.Text) || answeredWords.MatchString(e.Text))
	return s
}

// harmless are the words of kernels about what every machine of its kind has, and that costs nothing.
var harmless = needles.Of("failed to read out thermal zone", "acpi bios error", "acpi error", "acpi warning", "firmware bug", "device descriptor read", "end of support", "end of life", "end-of-life", "no irq handler for vector", "tsc: marking tsc unstable")

// leaves are the parties behind which nobody stands whom their errors could mean. A database is none, whose errors are mostly about the
// statement that it was given; nor is a machine: what its programs could not do is as
// often the doing of those whom they called.
var leaves = []string{semconv.LayerProvider, semconv.LayerNetwork, semconv.LayerCert, semconv.LayerDeploy, semconv.LayerProjection}

// ofLeaf says whether an error is a leaf's own.
func ofLeaf(e *correlator.Event) bool {
	if e.Severity >= 17 && byKernel(e) {
		return !unusable.Any(e.Text) // a kernel's drivers speak of the machine's parts
	}
	enough := 17
	if e.Party() == semconv.LayerNetwork && !linkDown.Any(e.Text) {
		enough = 13 // probes and switches tell what they find as warnings
	}
	if e.Party() == semconv.LayerNetwork && (holds(e.Text, ofServices) || e.Severity < 17 && holds(e.Text, ofWear)) {
		return false
	}
	return e.Severity >= enough && slices.Contains(leaves, e.Party()) && !unusable.Any(e.Text)
}

// ofServices are the words of a probe that asks a service, and not the way to it.
var ofServices = []string{"synthetic", "healthz", "get /", "post /", " http ", "https check", "http check", "connect=ok", "connect ok", "connected, no banner"}

// ofWear are the words of a part that nears a limit of its own and works.
var ofWear = []string{"rx power", "tx power", "optic", "transceiver", "temperature", "fan speed", "bias current"}

// linkDown are the words of a link that ended: of which of its two ends is not known.
var linkDown = needles.Of("changed state to down", "updown", "link down", "link is down", "link-down", "lost carrier", "carrier lost")

// severityFatal is the least severity of somebody who says that he cannot go on.
const severityFatal = 21

// servedItself says whether a party tells that it answered a request with an error of its own: 500 is what a server says of itself
// (RFC 9110, 15.6.1), unlike 502 to 504, and whoever is in front of others or asks others passes on what they said.
func servedItself(e *correlator.Event) bool {
	switch e.Party() {
	case semconv.LayerClient, semconv.LayerIngress, semconv.LayerWorkflow, semconv.LayerNodeAgent, semconv.LayerNetwork, "":
		return false
	}
	return e.HTTP.Status == 500 && e.SpanKind != "client" && e.Severity >= 17 && e.HTTP.Upstream == "" && (strings.Contains(e.Text, "internal server error: /") || ownError.MatchString(e.Text))
}

// ownError finds a server's line on a request that it answered with 500, and why.
var ownError = regexp.MustCompile(`\bhttp/[0-9.]+"? 500: `)

// ofAChild says whether a party tells how a command ended that it had started: what failed is what the command did.
func ofAChild(e *correlator.Event) bool {
	if e.Layer == semconv.LayerProvider && e.Party() == e.Layer {
		return agentsCommand.MatchString(e.Text)
	}
	return (e.Layer == semconv.LayerWorkflow || e.Layer == semconv.LayerNodeAgent) && e.Party() == e.Layer && commandEnded.MatchString(e.Text)
}

// ofAPart says whether somebody who works on machines tells of a machine's part that failed him: it is the machine's.
func ofAPart(e *correlator.Event) bool {
	return (e.Layer == semconv.LayerProvider || e.Layer == semconv.LayerNodeAgent) && e.Node != "" && len(partsOf(e.Text)) > 0
}

// agentsCommand finds what a provider tells of a command that it gave to a machine's agent, which failed there (Ironic).
var agentsCommand = regexp.MustCompile(`\bcommand [a-z_.]+ failed with error\b|\bagent returned error for\b`)

// commandEnded finds a command that ended with a status of its own.
var commandEnded = regexp.MustCompile(`\b(?:\w*terraform|ansible|ansible-playbook|\w*playbook|helm|kubectl|\w*script|command|process|job|task|activity|plan|apply|step|container|pod|\S+\.(?:sh|py|yml|yaml))\b.{0,40}\b(?:exited|exit code|exit status|returned non-zero|failed with (?:code|status))`)

// why finds whom a text gives as the reason, nil where it gives none: an expression reads a text far more slowly than a word is found.
func why(text string) []string {
	if !strings.Contains(text, "because ") {
		return nil
	}
	return becauseWords.FindStringSubmatch(text)
}

// callee is the layer of whom a record says that it could not be used, "" where it says that of nobody.
func callee(c *correlator.Case, e *correlator.Event) string {
	r := readingOf(e)
	if r.shared() {
		return readCallee(c, e)
	}
	if !r.within(c).called {
		r.callee, r.called = readCallee(c, e), true
	}
	return r.callee
}

func readCallee(c *correlator.Case, e *correlator.Event) string {
	if e.HTTP.Status >= 500 && e.HTTP.Upstream != "" && e.Party() == semconv.LayerIngress {
		return semconv.LayerAPI
	}
	if e.Party() == semconv.LayerAPI && strings.Contains(e.Text, "failed to check permissions") {
		return semconv.LayerAPIAuth // it asks another one, and has no answer that it could use
	}
	if !unusable.Any(e.Text) && !failedCall(e) {
		return quotedStranger(c, e)
	}
	other := func(layer string) bool { return layer != "" && layer != e.Party() && c.Profile.Knows(layer) }
	for _, key := range []string{semconv.ServerAddress, "peer.service", "db.system", "db.system.name", "messaging.system", "net.peer.name"} {
		if l := correlator.LayerOfName(c.Profile, e.Attr(key)); other(l) {
			return l
		}
	}
	for _, m := range dialled.FindAllStringSubmatch(e.Text, 4) {
		host, port := m[1]+m[3], m[2]+m[4]
		if l := correlator.LayerOfName(c.Profile, host); other(l) {
			return l
		}
		if l := portLayers[port]; other(l) {
			return l
		}
	}
	if m := prefixed.FindStringSubmatch(e.Text); m != nil {
		if l := correlator.LayerOfName(c.Profile, m[1]); other(l) {
			return l
		}
	}
	for _, m := range awayWords.FindAllStringSubmatch(e.Text, 2) {
		if l := correlator.LayerOfName(c.Profile, m[1]); other(l) {
			return l
		}
	}
	for _, d := range drivers {
		if strings.Contains(e.Text, d.word) && other(d.layer) {
			return d.layer
		}
	}
	return quotedStranger(c, e)
}

// failedCall says whether a span tells of a call to somebody else that failed there, or had no answer: what a caller asks amiss is answered with
// 4xx (RFC 9110, 15.5).
func failedCall(e *correlator.Event) bool {
	return e.Signal == record.Span && e.SpanKind == "client" && e.Status == "error" && (e.HTTP.Status == 0 || e.HTTP.Status >= 500)
}

// statements lists what was said around a trouble that tells of a failure, in order: what concerns it, and what stands
// beside it and was not said before the step began as well. Who reads them changes nothing of them.
func statements(c *correlator.Case, t *correlator.Trouble) []statement {
	w := wordsOf(c, t)
	if !w.stated {
		w.statements, w.stated = readStatements(c, t), true
	}
	return w.statements
}

func readStatements(c *correlator.Case, t *correlator.Trouble) []statement {
	failures, beside := c.Failures(t), c.Beside(t, telling)
	said := slices.Concat(failures, beside)[:len(failures)]
	for _, e := range beside {
		if (e.Failed() || hinted(e) != nil && hinted(e).Info) && !elsewhere(c, t, e) && (c.Own(e, t) || !afterIt(t, e)) {
			said = append(said, e)
		}
	}
	said = slices.DeleteFunc(said, func(e *correlator.Event) bool {
		return e.Text == "" || e.IsEvent() || e.Party() == "" || !c.Profile.Knows(e.Party())
	})
	if !slices.IsSortedFunc(said, correlator.CompareEvents) { // where all failures lie before what was said beside them, they are
		slices.SortFunc(said, correlator.CompareEvents)
	}
	said = slices.Compact(said)
	out := make([]statement, len(said))
	for i, e := range said {
		out[i] = stated(c, e)
	}
	insisted(c, t, out)
	sameThing(c, t, out)
	return out
}

// insists is how often whoever owes a step says the same of it, blaming nobody, until it counts as a word of its own.
const insists = 3

// insisted marks what the party that owes a step that stands still repeats about this very step, where nobody else complains: whatever its
// words are, it says why it does not go on.
func insisted(c *correlator.Case, t *correlator.Trouble, all []statement) {
	others := slices.ContainsFunc(all, func(s statement) bool { return s.party != t.Owes && s.party != semconv.LayerClient })
	if t.Kind != correlator.OverdueTrouble || t.Owes == "" || others {
		return
	}
	by := map[string][]int{}
	for i, s := range all {
		own := s.event.Allocation == c.ID && s.event.Severity >= 13 && s.party == t.Owes
		if own && s.echo && s.about == "" && s.event.HTTP.Status == 0 && !givenUp.Any(s.event.Text) && !unusable.Any(s.event.Text) {
			by[s.party+" "+correlator.Template(s.event.Text)] = append(by[s.party+" "+correlator.Template(s.event.Text)], i)
		}
	}
	for _, list := range by {
		if len(list) >= insists {
			for _, i := range list {
				all[i].echo = false
			}
		}
	}
}
