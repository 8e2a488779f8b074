package rest_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
)

// gate is a node API with an authority, and an ingress in front of it.
type gate struct {
	*bench
	authority *authority.Authority
	ingress   *tls.ConnectionState
	now       time.Time
}

func newGate(t *testing.T) *gate {
	g := &gate{now: time.Now()}
	g.bench = newBench(t, store.Options{Now: func() time.Time { return g.now }})
	var err error
	if g.authority, err = authority.New("ca", g.now); err != nil {
		t.Fatal(err)
	}
	g.fleet.Certify(g.authority, time.Hour)
	g.ingress = g.connection(authority.Identity{Service: authority.Ingress})
	return g
}

// connection is one that somebody with this identity has made, and that was verified.
func (g *gate) connection(id authority.Identity) *tls.ConnectionState {
	pair, err := g.authority.Pair(id, g.now, g.now.Add(time.Hour))
	if err != nil {
		g.t.Fatal(err)
	}
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{pair.Leaf}, VerifiedChains: [][]*x509.Certificate{{pair.Leaf}}}
}

// send has the ingress pass on a request; headers are key and value in turn.
func (g *gate) send(over *tls.ConnectionState, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.TLS = over
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	g.node.ServeHTTP(w, r)
	return w
}

func request(t *testing.T, key *ecdsa.PrivateKey) string {
	text, err := authority.NewRequest("n", key)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (g *gate) token(node string) string {
	var token rest.NodeToken
	_ = json.Unmarshal(g.call(g.control, "POST", "/v1/nodes", `{"node_id":"`+node+`","node_pool":"p"}`).Body.Bytes(), &token)
	return token.Token
}

func (g *gate) enrol(token, csr string) *httptest.ResponseRecorder {
	body, _ := json.Marshal(rest.EnrolRequest{Token: token, BootID: "b-1", HostName: "h", CertificateRequest: csr})
	return g.send(g.ingress, "POST", "/internal/v1/nodes/enroll", string(body))
}

// agent enrols a node's agent; header is what the ingress passes on for it.
func (g *gate) agent(node string) (e rest.Enrolled, header string) {
	g.t.Helper()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w := g.enrol(g.token(node), request(g.t.(*testing.T), key))
	g.want(w, 201, "")
	_ = json.Unmarshal(w.Body.Bytes(), &e)
	return e, passedOn(node, e.NodeInstanceID)
}

func passedOn(node, instance string) string {
	id := authority.Identity{NodeID: node, InstanceID: instance}
	return rest.ClientCert{Hash: "ab", Subject: "CN=" + node, URI: id.URI().String()}.String()
}

// denials are the audit rows of attempts that were denied, as "action actor node".
func (g *gate) denials() (out []string) {
	g.t.Helper()
	err := g.store.View(context.Background(), "test", func(t *store.Tx) error {
		all, err := t.AuditLog(store.AuditFilter{Outcome: store.Denied, Limit: 100})
		for _, a := range all {
			out = append(out, strings.TrimSpace(a.Action+" "+a.Actor+" "+a.NodeID))
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

func (g *gate) wantDenials(want ...string) {
	g.t.Helper()
	got := g.denials()
	slices.Sort(got) // the clock stands still
	slices.Sort(want)
	if strings.Join(got, "|") != strings.Join(want, "|") {
		g.t.Errorf("denials %q, want %q", got, want)
	}
}

func TestATokenIsSpentOnOneKey(t *testing.T) {
	g := newGate(t)
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	thief, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	token := g.token("n-1")
	says := func(w *httptest.ResponseRecorder, words string) {
		t.Helper()
		if !strings.Contains(w.Body.String(), words) {
			t.Errorf("%s, want %q", w.Body, words)
		}
	}
	g.want(g.enrol(token, ""), 422, "certificate_request")
	g.want(g.enrol(token, "forged"), 422, "certificate_request")
	first := g.enrol(token, request(t, key)) // what was refused has spent nothing
	g.want(first, 201, "")
	again := g.enrol(token, request(t, key)) // the answer was lost on its way
	g.want(again, 201, "")
	var a, b rest.Enrolled
	_, _ = json.Unmarshal(first.Body.Bytes(), &a), json.Unmarshal(again.Body.Bytes(), &b)
	if a.NodeInstanceID != b.NodeInstanceID || a.NodeInstanceID == "" {
		t.Errorf("node instances %q and %q", a.NodeInstanceID, b.NodeInstanceID)
	}
	w := g.enrol(token, request(t, thief))
	g.want(w, 401, "enrolment_token")
	says(w, "was used at")
	w = g.enrol("never", request(t, thief))
	g.want(w, 401, "enrolment_token")
	says(w, "never issued")
	late := g.token("n-2")
	g.now = g.now.Add(2 * time.Minute) // tokens live for one here
	w = g.enrol(late, request(t, thief))
	g.want(w, 401, "enrolment_token")
	says(w, "was good until")
	g.want(g.enrol(token, request(t, key)), 401, "enrolment_token") // by now the old one is too old, too
	g.wantDenials("enrol h", "enrol h n-1", "enrol h", "enrol h n-2", "enrol h n-1")
}

func TestACertificateBindsNodeAndInstance(t *testing.T) {
	g := newGate(t)
	_, one := g.agent("n-1")
	_, two := g.agent("n-2")
	wait := "/internal/v1/nodes/n-1/tasks/wait?timeout=1ms"
	get := func(over *tls.ConnectionState, headers ...string) *httptest.ResponseRecorder {
		return g.send(over, "GET", wait, "", headers...)
	}
	g.want(get(g.ingress, rest.HeaderClientCert, one), 204, "")
	g.want(get(g.ingress), 401, "no_certificate")
	g.want(get(nil, rest.HeaderClientCert, one), 401, "no_certificate")                                                              // not over TLS
	g.want(get(&tls.ConnectionState{}, rest.HeaderClientCert, one), 401, "no_certificate")                                           // nobody's
	g.want(get(g.connection(authority.Identity{NodeID: "n-1", InstanceID: "x"}), rest.HeaderClientCert, one), 401, "no_certificate") // an agent past the ingress
	g.want(get(g.ingress, rest.HeaderCertSubject, "CN=n-1", rest.HeaderInstance, "x"), 401, "no_certificate")
	g.want(get(g.ingress, rest.HeaderClientCert, two), 403, "wrong_certificate")
	g.want(get(g.ingress, rest.HeaderClientCert, one, rest.HeaderInstance, "ni-other"), 403, "wrong_certificate")
	g.want(get(g.ingress, rest.HeaderClientCert, one+","+two), 403, "wrong_certificate")
	g.want(get(g.ingress, rest.HeaderClientCert, one, rest.HeaderClientCert, one), 403, "wrong_certificate")
	g.want(get(g.ingress, rest.HeaderClientCert, `Hash=x;Subject="CN=n-1`), 403, "wrong_certificate")
	g.want(get(g.ingress, rest.HeaderClientCert, `Subject="CN=n-1"`), 403, "wrong_certificate")
	g.want(get(g.ingress, rest.HeaderClientCert, passedOn("n-1", "ni-old")), 409, "superseded_instance")
	_, fresh := g.agent("n-1")
	g.want(get(g.ingress, rest.HeaderClientCert, one), 409, "superseded_instance")
	g.want(get(g.ingress, rest.HeaderClientCert, fresh), 204, "")
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	renew := func(header string) *httptest.ResponseRecorder {
		body, _ := json.Marshal(rest.CertificateRequest{CertificateRequest: request(t, key)})
		return g.send(g.ingress, "POST", "/internal/v1/nodes/n-1/cert/renew", string(body), rest.HeaderClientCert, header)
	}
	g.want(renew(fresh), 200, "")
	g.want(renew(one), 409, "superseded_instance") // no way back for what was wiped
	// Told once a minute, however often it is tried.
	g.wantDenials("node_api  n-1", "node_api CN=n-2 n-1", "node_api CN=n-1 n-1", "node_api  n-1", "renew_certificate n-1 n-1")
}

func TestResultsCountUnderTheirOwnCertificateOnly(t *testing.T) {
	g := newGate(t)
	g.work(quick())
	_, one := g.agent("n-1")
	_, two := g.agent("n-2")
	g.want(g.call(g.control, "POST", "/v1/allocations", good), 201, "")
	claimFor := func(node, header, query string) (k rest.Task) {
		t.Helper()
		w := g.send(g.ingress, "GET", "/internal/v1/nodes/"+node+"/tasks/wait?timeout=5s"+query, "", rest.HeaderClientCert, header)
		g.want(w, 200, "")
		_ = json.Unmarshal(w.Body.Bytes(), &k)
		return k
	}
	k := claimFor("n-1", one, "")
	if again := claimFor("n-1", one, "&resume=true"); again.ClaimID != k.ClaimID || again.Fence != k.Fence || again.TaskID != k.TaskID {
		t.Fatalf("a claim whose answer was lost came back as %+v, was %+v", again, k)
	}
	result := func(node, header, message string) *httptest.ResponseRecorder {
		body := fmt.Sprintf(`{"claim_id":%q,"fence":%d,"ok":true,"message":%q}`, k.ClaimID, k.Fence, message)
		return g.send(g.ingress, "POST", "/internal/v1/nodes/"+node+"/tasks/"+k.TaskID+"/result", body, rest.HeaderClientCert, header)
	}
	g.want(result("n-1", two, ""), 403, "wrong_certificate")
	g.want(result("n-2", two, ""), 409, "wrong_claim")
	g.want(result("n-1", one, strings.Repeat("x", 9<<10)), 400, "")
	g.want(result("n-1", one, strings.Repeat("x", 100<<10)), 413, "")
	_, fresh := g.agent("n-1") // reimaged
	g.want(result("n-1", one, ""), 409, "superseded_instance")
	if w := result("n-1", fresh, ""); w.Code != http.StatusConflict { // the claim was the old node instance's
		t.Fatal(w.Code, w.Body)
	}
	g.wantDenials("node_api CN=n-2 n-1", "task_result "+instanceOf(t, two)+" n-2", "task_result "+instanceOf(t, one)+" n-1", "task_result "+instanceOf(t, fresh)+" n-1")
}

func instanceOf(t *testing.T, header string) string {
	c, err := rest.ParseClientCert(header)
	if err != nil {
		t.Fatal(err)
	}
	id, err := authority.ParseIdentity(c.URI)
	if err != nil {
		t.Fatal(err)
	}
	return id.InstanceID
}

func TestARebootKeepsTheNodeInstance(t *testing.T) {
	g := newGate(t)
	_, one := g.agent("n-1")
	beat := func(body string) *httptest.ResponseRecorder {
		return g.send(g.ingress, "POST", "/internal/v1/nodes/n-1/heartbeat", body, rest.HeaderClientCert, one)
	}
	g.want(beat(""), 204, "")
	g.want(beat(`{"boot_id":"b-2"}`), 204, "")
	g.want(beat(`{"boot_id":"b 2"}`), 400, "")
	g.want(beat(`{"boot":"b-2"}`), 400, "")
	g.want(beat(`{"boot_id":"`+strings.Repeat("b", 100<<10)+`"}`), 413, "")
}

func FuzzParseClientCert(f *testing.F) {
	f.Add(passedOn("n-1", "ni-1"))
	f.Add(`Subject="CN=a\"b,c;d";URI=x`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := rest.ParseClientCert(text)
		if err != nil || strings.ContainsAny(c.Hash+c.URI, `;,"=`) {
			return
		}
		if again, err := rest.ParseClientCert(c.String()); err != nil || again != c {
			t.Fatalf("%q: %+v, then %+v, %v", text, c, again, err)
		}
	})
}
