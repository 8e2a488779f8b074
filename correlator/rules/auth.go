package rules

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// auth finds requests that were understood and refused.
func auth() []correlator.Rule {
	return []correlator.Rule{{
		ID: "api_auth.refused", Layer: semconv.LayerAPIAuth, Mechanism: "policy",
		Looks:      "401 or 403, PermissionDenied or Unauthenticated, for a caller that reached the service",
		NextCheck:  "the decision's reason in the authorization service's log, and the policy for this subject",
		SafeAction: "add the subject to the policy, or renew its credential; do not retry blindly",
		Find:       refusals,
	}, {
		ID: "client.malformed", Layer: semconv.LayerClient, Mechanism: "request",
		Looks:      "400, 412, 415, 422 or 428 from an API, over and over, for what one caller asks and others get",
		NextCheck:  "what the caller sends, beside what the API's contract asks for",
		SafeAction: "correct or roll back the caller; the API needs nothing",
		Find:       malformed,
	}, {
		ID: "client.plain_http", Layer: semconv.LayerClient, Mechanism: "request", Words: spokeInPlain,
		Looks:      "a server's TLS port that is spoken to in plain text, again and again, while a user's requests get no answer",
		NextCheck:  "the scheme of the address that the caller uses",
		SafeAction: "use https; the server needs nothing",
		Find:       plainText,
	}}
}

// spokeInPlain are the words of a server whose caller did not begin with a TLS handshake (Go's crypto/tls, OpenSSL, nginx, Java).
var spokeInPlain = []string{"first record does not look like a tls handshake", "ssl routines::http request", "http request)", "client sent plain http request to https port", "not an ssl/tls record"}

// plainText needs the server's own word, more than once, a user's request that failed and was not refused by anybody, and nobody else's
// trouble with the server's certificate.
func plainText(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	var told []*correlator.Event
	c.Each(t.From-recently, t.At+moment, func(e *correlator.Event) {
		if holds(e.Text, spokeInPlain) && e.Party() != semconv.LayerClient && e.Layer != "" && !e.IsEvent() {
			told = append(told, e)
		}
	})
	asked := c.Failures(t)
	byUser := slices.ContainsFunc(asked, func(e *correlator.Event) bool { return e.Layer == semconv.LayerClient })
	if len(told) < 2 || !byUser || slices.ContainsFunc(asked, func(e *correlator.Event) bool { return e.HTTP.Status != 0 }) {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: told[0].At, Records: append(told[:min(len(told), 4)], asked...),
		Summary: "the caller speaks plain text to a port that wants TLS" + quote(told[0]),
	}}
}

// callersOwn are the words of an API for a mistake of its caller's that has another status than 400 (the Idempotency-Key header field,
// RFC 9110 13.1).
var callersOwn = []string{"idempotency_key_reuse", "idempotency key", "idempotency-key", "must not be reused with different"}

// ofOldRead are the words of an API for a caller that asks by a version which it read long before (RFC 9110, 13.1; RFC 6585, 3).
var ofOldRead = []string{"resource_version", "resourceversion", "latest version", "read the resource again", "version mismatch", "stale version", "outdated version", "etag"}

// preconditions are the words of an API that a caller's own condition does not hold (RFC 9110, 13.1).
var preconditions = []string{"if-match", "if-unmodified-since", "precondition failed"}

// callersFault are the statuses of an API for what the caller sends: its form, or a precondition of its own (RFC 9110, 15.5; RFC 6585, 3).
var callersFault = []int{http.StatusBadRequest, http.StatusPreconditionFailed, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusPreconditionRequired}

// callersStatus are those statuses as a text holds them.
var callersStatus = []string{"400", "412", "415", "422", "428"}

// badRequest finds those statuses as programs word them.
var badRequest = regexp.MustCompile(`--> 400 |\bhttp[ :]+4(?:00|12|15|22|28)\b|\b400 bad[ _]request|\b4(?:00|12|15|22|28) (?:post|put|patch|delete) /|unexpected response - 400|\bstatus"?(?: code)?[:= ]+4(?:00|12|15|22|28)\b|\b(?:answered|returned|replied|responded|said|got)(?: with)?:? 4(?:00|12|15|22|28)(?:$|[,;.:)\]"]| bad| precond| unproc| unsupp)|\b412[ :]+precondition|\b415[ :]+unsupported|\b422[ :]+unprocessable|\b428[ :]+precondition`)

// ofForm are the words of who cannot read what he was sent, or misses a part of it (Jackson, Go's encoding/json, Pydantic, JSON Schema, Spring, Express).
var ofForm = needles.Of("parse error", "unknown field", "unrecognized field", "unexpected character", "unexpected token", "malformed", "invalid json", "invalid character", "expected application/", "unsupported media type", "unsupported content type", "schema validation", "required property", "field required", "missing required")

// unrendered are what is left in a path where nobody put a value for a variable (URI templates, shells, JavaScript, Go's and Jinja's templates), as it is sent.
var unrendered = []string{"/%7b", "/%24%7b", "/undefined ", "/undefined/", "/[object%20object]", "/%3cno%20value%3e"}

// sentBadForm says whether an API cannot read what it was sent, and not what it was answered by somebody whom it had asked.
func sentBadForm(c *correlator.Case, e *correlator.Event) bool {
	return ofForm.Any(e.Text) && !holds(e.Text, []string{"response", "reply", "config", "from upstream", "from provider", "from backend"}) && callee(c, e) == ""
}

// malformed needs what a user asks to be refused for its form more than once, by the API's own word or by status, or to be unknown at a path in which a variable has
// no value, and an API that is not ailing itself.
func malformed(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Caller}
	for _, e := range c.Failures(t) {
		if slices.Contains(callersFault, e.HTTP.Status) || e.HTTP.Status == http.StatusConflict && holds(e.Text, ofOldRead) || e.Layer == semconv.LayerAPI && on(e, themePrecondition) || e.HTTP.Status == 0 && holds(e.Text, callersStatus) && badRequest.MatchString(e.Text) {
			ev.Records = append(ev.Records, e)
		}
	}
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerClient && e.HTTP.Status == http.StatusNotFound && holds(strings.ToLower(e.Name+" "+e.HTTP.Path)+" "+e.Text+" ", unrendered) {
			ev.Records = append(ev.Records, e)
		}
	}
	for _, e := range c.Quiet(t) { // the API may give its reason below a warning alone
		if e.Layer == semconv.LayerAPI && holds(e.Text, callersOwn) {
			ev.Records = append(ev.Records, e)
		}
	}
	ev.Records = append(ev.Records, quietRefusals(c, t, ev.Records)...)
	byAPI := slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.HTTP.Status == http.StatusNotFound }) || slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool {
		return e.Layer == semconv.LayerAPI || e.Layer == semconv.LayerProvider && t.Kind != correlator.JobTrouble
	})
	byCaller := false // it is the user's own program that works for the step that failed
	if t.Kind == correlator.WorkflowTrouble || t.Kind == correlator.StateTrouble {
		for _, e := range c.Events {
			if e.At >= t.From && e.At <= t.At && e.Layer == semconv.LayerClient && holds(e.Text, callersStatus) && badRequest.MatchString(e.Text) {
				byCaller = true
				ev.Records = append(ev.Records, e)
			}
		}
	}
	ailing := slices.ContainsFunc(c.Beside(t, telling), func(e *correlator.Event) bool { // it may call its own trouble the caller's
		return e.Party() == semconv.LayerAPI && e.Failed() && e.HTTP.Status == 0 && (hinted(e) != nil || callee(c, e) != "") && (!holds(e.Text, callersStatus) || !badRequest.MatchString(e.Text))
	})
	if t.Kind != correlator.RequestTrouble && !byCaller || len(ev.Records) < 2 || !byAPI || ailing {
		return nil
	}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Summary = "the API refused what the caller asked, for its form" + quote(witness(ev.Records))
	return []correlator.Evidence{ev}
}

// quietRefusals are the API's own plain lines on the allocation, of whatever level, on the requests that callers tell were refused for their form: "422 PATCH
// /v1/…: … must be", or with the status as a field; and those that tell what is wrong with the request's form.
func quietRefusals(c *correlator.Case, t *correlator.Trouble, refused []*correlator.Event) (out []*correlator.Event) {
	c.EachIn(semconv.LayerAPI, t.From-moment, t.At+moment, func(e *correlator.Event) {
		if e.IsEvent() || e.Failed() || e.Allocation != c.ID || slices.Contains(refused, e) {
			return
		}
		field := sentBadForm(c, e) || holds(e.Text, callersStatus) && badRequest.MatchString(e.Text)
		line := requestLine.MatchString(e.Text)
		if !field && !line {
			return
		}
		of := func(r *correlator.Event) bool {
			return r.Layer == semconv.LayerClient && e.At <= r.EndAt()+moment && e.At >= r.At-moment &&
				(field || r.HTTP.Status != 0 && slices.Contains(strings.Fields(e.Text), strconv.Itoa(r.HTTP.Status)))
		}
		if slices.ContainsFunc(refused, of) {
			out = append(out, e)
		}
	})
	return out
}

func refusals(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Hearsay, Certain: true}
	for _, e := range c.Failures(t) {
		if named(e) != nil || !refusal(e) || ranOut(e) {
			continue
		}
		ev.Records = append(ev.Records, e)
		switch e.Layer {
		case semconv.LayerAPIAuth, semconv.LayerProvider: // a provider decides for itself whom it lets in
			ev.Directness = correlator.Itself
		case semconv.LayerWorkflow:
			ev.Directness = min(ev.Directness, correlator.Caller)
		case semconv.LayerAPI, semconv.LayerIngress:
			ev.Directness = min(ev.Directness, correlator.Caller)
		}
		if e.HTTP.Status == 401 || holds(e.Text, []string{"unauthenticated", "status 401", "status code 401", "status code: 401", "401 unauthorized"}) {
			ev.Mechanism = "credential"
		}
	}
	if len(ev.Records) == 0 || unheard(t, ev.Records) || shownAndNotSeen(c, t, ev.Records) || doneBefore(c, t, ev.Records) {
		return nil
	}
	if full := ofLimit(ev.Records); full != nil {
		return []correlator.Evidence{{
			Rule: "provider.quota", Layer: semconv.LayerProvider, Mechanism: "quota", Weight: correlator.Telling, Directness: correlator.Itself, Onset: ev.Records[0].At, Records: ev.Records,
			Summary: "the provider refused the order for a limit of its own" + quote(full), NextCheck: "that limit, and what counts against it", SafeAction: "raise the limit or free what counts against it; the caller's rights need nothing",
		}}
	}
	if proxy := ownProxyRefused(c, t, ev.Records); proxy != nil {
		return []correlator.Evidence{{
			Rule: "client.proxy", Layer: semconv.LayerClient, Mechanism: "request", Weight: correlator.Telling, Directness: correlator.Caller, Records: append(ev.Records, proxy),
			Summary:   "the caller goes by a proxy of its own, and nobody on the platform tells of the refusal" + quote(proxy),
			NextCheck: "the caller's proxy settings, and what that proxy allows", SafeAction: "except the platform's host from the proxy; nothing reached it",
		}}
	}
	if own := deniedByProxy(c, ev.Records); own != nil {
		return []correlator.Evidence{*own}
	}
	if decided := decidedOn(c, ev.Records); decided != nil {
		ev.Records, ev.Directness = append(ev.Records, decided), correlator.Itself
	}
	best := witness(ev.Records)
	for _, e := range ev.Records {
		if e.Layer == semconv.LayerAPIAuth && e.Body != "" {
			best = e
			break
		}
	}
	ev.Summary = "the caller was refused" + quote(best)
	if best.HTTP.Status != 0 {
		ev.Summary = fmt.Sprintf("the caller was refused with %d", best.HTTP.Status) + quote(best)
	}
	if ev.Mechanism == "" { // a decision, not a credential: whoever changed what is decided by
		ev.Rule, ev.Layer, ev.Mechanism, ev.Onset = "api_auth.refused", semconv.LayerAPIAuth, "policy", ev.Records[0].At
		ev = byRollout(c, ev, "policy", "authconfig", "policy", "policies", "rbac", "subjects", "rego", "permission", "role")
	}
	return []correlator.Evidence{ev}
}

// limitMet finds that something would be more than a limit allows; ofOtherLimits are the words of limits on how somebody asks, not on what he has.
var (
	limitMet      = regexp.MustCompile(`\b(?:limit|quota)\b.{0,60}\b(?:exceed(?:ed|s)?|reached|hit)\b|\bexceed(?:s|ed)?\b.{0,60}\b(?:limit|quota)\b`)
	ofOtherLimits = []string{"rate limit", "attempt", "login", "token", "lifetime", "per second", "per minute"}
)

// ofLimit is a provider's own refusal for a limit, whatever its status: who would be let in with less is not turned away for who he is.
func ofLimit(refused []*correlator.Event) *correlator.Event {
	for _, e := range refused {
		if e.Layer == semconv.LayerProvider && holds(e.Text, []string{"limit", "quota"}) && !holds(e.Text, ofOtherLimits) && limitMet.MatchString(e.Text) {
			return e
		}
	}
	return nil
}

// doneBefore says whether a user is refused since what he asks for is there already, by his own program's word, and no authority speaks of it.
func doneBefore(c *correlator.Case, t *correlator.Trouble, refused []*correlator.Event) bool {
	if t.Kind != correlator.RequestTrouble || slices.ContainsFunc(refused, func(e *correlator.Event) bool { return e.Party() == semconv.LayerAPIAuth }) {
		return false
	}
	return slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return e.Layer == semconv.LayerClient && !e.IsEvent() && holds(e.Text, []string{"already exists", "currently exists", "already been created"})
	})
}

// decidedOn is the word of who decides on a refused request, by the request's identifier, which it may say in passing: a denial is no failure of his.
func decidedOn(c *correlator.Case, refused []*correlator.Event) (decided *correlator.Event) {
	for _, e := range refused {
		id := e.Own(identity.Request)
		if id == "" || e.Layer == semconv.LayerAPIAuth {
			continue
		}
		c.EachIn(semconv.LayerAPIAuth, e.At-moment, e.At+moment, func(o *correlator.Event) {
			if !o.IsEvent() && o.Own(identity.Request) == id && holds(o.Text, deniedWords) {
				decided = o
			}
		})
		if decided != nil {
			break
		}
	}
	return decided
}

// deniedWords are the words of who decides that a request may not pass.
var deniedWords = []string{"denied", "not in ", "forbidden", "not allowed", "unauthorized", "authorized\":false", "no rule matches", "rejected"}

// ownProxyRefused is the caller's word that it goes by a proxy of its own, where the caller alone tells of a refusal; nil where it says nothing of one.
func ownProxyRefused(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) (says *correlator.Event) {
	if slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient }) {
		return nil
	}
	for _, e := range c.Events {
		if e.Layer == semconv.LayerClient && e.At <= t.At && e.At >= records[0].At-recently && holds(e.Text, ofProxies) {
			says = e
		}
	}
	return says
}

// ofProxies are the words of a client that tells by which proxy it goes, by its environment (curl, Go, Python, kubectl).
var ofProxies = []string{"https_proxy", "http_proxy", "all_proxy", "uses proxy env variable", "via proxy", "connect tunnel failed", "proxy connect aborted"}

// unheard says whether only a proxy tells that a node was refused. A node shows a certificate, which the proxy
// passes on or not: whether the one or the other was wrong only who decided can say.
func unheard(t *correlator.Trouble, records []*correlator.Event) bool {
	return t.Node != "" && !slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerIngress })
}

// shownAndNotSeen says whether callers were refused for want of a certificate which their own log says that they showed: what became of it
// between the two, neither says.
func shownAndNotSeen(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if !slices.ContainsFunc(records, func(e *correlator.Event) bool { return holds(e.Text, noCertificate) }) {
		return false
	}
	shown := false
	c.Each(t.From, t.At, func(e *correlator.Event) {
		shown = shown || c.Own(e, t) && !e.IsEvent() && (e.Layer == semconv.LayerNodeAgent || e.Layer == semconv.LayerClient) && holds(e.Text, presented)
	})
	return shown
}

// What a caller says of the certificate that it showed, and who asked for it of the one that did not come.
var (
	noCertificate = []string{"client certificate missing", "no client certificate", "mtls_present\":false", "mtls_present=false", "certificate required", "no required ssl certificate"}
	presented     = []string{"presented cn=", "presented certificate", "presenting certificate", "sent client certificate", "client certificate sent"}
)

// ofFiles are the words of a file that could not be opened (errno EACCES).
var ofFiles = []string{"could not open", "cannot open", "failed to open", "can't open", "errno 13", "open /", "mkdir /", "unlink /", "eacces"}

// refusal says whether a record tells of a decision against a caller. "Permission denied" on a file is
// another matter, so the words count only from those who take or pass on such decisions.
func refusal(e *correlator.Event) bool {
	r := readingOf(e)
	if r.shared() {
		return isRefusal(e)
	}
	if !r.refused {
		r.refusal, r.refused = isRefusal(e), true
	}
	return r.refusal
}

var (
	refusedByProtocol = needles.Of("401 client error", "403 client error", "401 unauthorized", "unauthorized: 401", "403 forbidden", "forbidden: 403", "status 401 received", "status 403 received", "status code 401", "status code 403", "status code: 401", "status code: 403", "code: 401. errors:", "code: 403. errors:", "answered 401", "answered 403")
	refusedByWord     = needles.Of("permissiondenied", "unauthenticated", "permission denied", "access denied", "forbidden", "unauthorized", "not authorized", "decision=deny", "denied by policy")
)

func isRefusal(e *correlator.Event) bool {
	if e.HTTP.Status == 401 || e.HTTP.Status == 403 {
		return true
	}
	if e.HTTP.Status != 0 && e.HTTP.Status < 400 || strings.Contains(e.Text, " is invalid: ") && strings.Contains(e.Text, ": forbidden: ") {
		return false // of a field that may not be set (Kubernetes' field errors), nobody is turned away
	}
	code := strings.ToLower(e.Attr(semconv.RPCGRPCStatus))
	if code == "7" || code == "16" || code == "permission_denied" || code == "unauthenticated" {
		return true
	}
	// The protocol's own words, whoever passes them on; a wrapper that merely mentions a number says less.
	if refusedByProtocol.Any(e.Text) {
		return true
	}
	switch e.Layer {
	case semconv.LayerAPIAuth, semconv.LayerAPI, semconv.LayerClient, semconv.LayerIngress, semconv.LayerWorkflow:
	default:
		return false
	}
	return refusedByWord.Any(e.Text) && !holds(e.Text, ofFiles) && !strings.Contains(e.Text, "failed to check permissions")
}

// clientOf finds the client whose credential an authority speaks of (OAuth 2, Keycloak's events).
var clientOf = regexp.MustCompile(`\bclient(?:_?id)?[ =:"']+([a-z0-9][\w.-]{2,})`)

// ofOtherClient says whether an authority told, under nobody's identifiers, of a client by its name that no record of the step has anything to do with.
func ofOtherClient(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	return !slices.ContainsFunc(records, func(e *correlator.Event) bool {
		m := clientOf.FindStringSubmatch(e.Text)
		if m == nil {
			return true
		}
		name, _, _ := strings.Cut(m[1], ".")
		return slices.ContainsFunc(c.Events, func(own *correlator.Event) bool {
			return c.Own(own, t) && own != e && (strings.Contains(own.Service, name) || strings.Contains(name, own.Service) && own.Service != "" || strings.Contains(own.Text, name))
		})
	})
}
