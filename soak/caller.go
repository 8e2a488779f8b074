package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
)

// caller talks to whichever of some provisioners answers.
type caller struct {
	client *http.Client
	bases  []string
	next   *atomic.Int64 // which one is asked first
}

func newCaller(bases []string) caller {
	return caller{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}, bases, &atomic.Int64{}}
}

// call sends a request once, and reads the answer into out, if it is not nil. status 0: there was no answer.
func (c caller) call(ctx context.Context, method, path string, header http.Header, in, out any) (status int, err error) {
	base := c.bases[int(c.next.Load())%len(c.bases)]
	defer func() {
		if status == 0 || status >= 500 {
			c.next.Add(1)
		}
	}()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, base+path, body)
	if err != nil {
		return 0, err
	}
	if header != nil {
		q.Header = header
	}
	q.Header.Set("Content-Type", "application/json")
	answer, err := c.client.Do(q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil { // killed while it answered
		return 0, err
	}
	if answer.StatusCode >= 400 {
		return answer.StatusCode, fmt.Errorf("%s %s: %d: %s", method, path, answer.StatusCode, text)
	}
	if out != nil && answer.StatusCode != http.StatusNoContent {
		err = json.Unmarshal(text, out)
	}
	return answer.StatusCode, err
}

// insist calls until there is an answer that is not the provisioner's own trouble.
func (c caller) insist(ctx context.Context, method, path string, in, out any) (status int, err error) {
	for ctx.Err() == nil {
		if status, err = c.call(ctx, method, path, nil, in, out); status != 0 && status < 500 {
			return status, err
		}
		pause(ctx, 20*time.Millisecond)
	}
	return 0, ctx.Err()
}

// remote is a node that talks to provisioners over HTTP.
type remote struct {
	caller
	node, instance string
	cert           *certified // nil: it is known by its name
}

// enrol registers a node and has it enrol. A token that was spent by a call whose answer was lost is
// replaced by a new one, and the node is a new instance.
func enrol(ctx context.Context, control, node caller, name string, cert *certified) (remote, error) {
	m := remote{caller: node, node: name, cert: cert}
	want := rest.EnrolRequest{BootID: "boot-1", HostName: name}
	if cert != nil {
		var err error
		if want.CertificateRequest, err = cert.request(name); err != nil {
			return m, err
		}
	}
	for ctx.Err() == nil {
		var token rest.NodeToken
		if _, err := control.insist(ctx, http.MethodPost, "/v1/nodes", rest.NodeRequest{NodeID: name, NodePool: "p"}, &token); err != nil {
			return m, err
		}
		var enrolled rest.Enrolled
		want.Token = token.Token
		if status, _ := node.call(ctx, http.MethodPost, "/internal/v1/nodes/enroll", nil, want, &enrolled); status == http.StatusCreated {
			if m.instance = enrolled.NodeInstanceID; cert == nil {
				return m, nil
			}
			return m, cert.take(enrolled.Certificate, name, m.instance)
		}
		pause(ctx, 20*time.Millisecond)
	}
	return m, ctx.Err()
}

func (m remote) header() http.Header {
	h := http.Header{}
	if m.cert != nil {
		h.Set(rest.HeaderClientCert, m.cert.header())
		return h
	}
	h.Set(rest.HeaderCertSubject, "CN="+m.node)
	h.Set(rest.HeaderInstance, m.instance)
	return h
}

func (m remote) wait(ctx context.Context) (store.Task, bool, error) {
	var k rest.Task
	status, err := m.call(ctx, http.MethodGet, "/internal/v1/nodes/"+m.node+"/tasks/wait?timeout=2s", traced(m.header()), nil, &k)
	return store.Task{
		ID: k.TaskID, Type: k.Type, Claim: lifecycle.Claim{ID: k.ClaimID, Fence: k.Fence},
	}, status == http.StatusOK && err == nil, err
}

func (m remote) done(ctx context.Context, k store.Task, observed string) (again bool, err error) {
	status, err := m.call(ctx, http.MethodPost, "/internal/v1/nodes/"+m.node+"/tasks/"+k.ID+"/result", traced(m.header()),
		rest.ResultRequest{ClaimID: k.Claim.ID, Fence: k.Claim.Fence, OK: true, Observed: observed}, nil)
	return status == 0 || status >= 500, err
}
