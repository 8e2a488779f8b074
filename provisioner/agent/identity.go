package agent

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// identify reads which node instance this is, or enrols it. Afterwards the node instance is empty only if ctx ended.
func (a *Agent) identify(ctx context.Context) error {
	if _, err := a.folder.read(identityFile, &a.self); err != nil {
		return err
	}
	if a.self.InstanceID != "" {
		if err := a.adopt(); err != nil {
			return err
		}
		if a.config.Token == "" || !a.isOver(ctx) {
			return nil
		}
		a.emitter.Log(ctx, telemetry.Warn, "node instance "+a.self.InstanceID+" counts no more, enrolling anew")
		if err := a.folder.forget(); err != nil {
			return err
		}
		a.self = identity{}
		a.cert.Store(nil)
		a.emitter = a.currentEmitter()
	}
	if a.self.Key == "" { // before the token is spent: asked again with the same key, the node API gives the same answer
		key, err := newKey()
		if err != nil {
			return err
		}
		a.self.Key = key
		if err := a.folder.put(identityFile, a.self); err != nil {
			return err
		}
	}
	for wait := a.config.Retry; ctx.Err() == nil; wait = min(2*wait, 8*a.config.Retry) {
		err := a.enrol(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			a.emitter.Log(ctx, telemetry.Error, "enrol: "+err.Error())
		}
		pause(ctx, wait)
	}
	return nil
}

// isOver reports whether the node instance can be nobody any more: the node API knows another one, or the ingress
// refuses its certificate, whose time is over. Somebody who hands a node a token means that it may enrol
// again then.
func (a *Agent) isOver(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(telemetry.Detached(ctx), a.config.Timeout)
	defer cancel()
	err := a.client.call(ctx, http.MethodPost, "/internal/v1/nodes/"+a.self.NodeID+"/heartbeat", rest.HeartbeatRequest{BootID: a.config.BootID}, nil)
	var r *Refused
	if errors.As(err, &r) {
		return r.Ours && (r.Reason == string(lifecycle.SupersededInstance) || r.Reason == string(lifecycle.UnknownNode))
	}
	var alert *net.OpError
	cert := a.cert.Load()
	return cert != nil && a.clock.theirs().After(cert.Leaf.NotAfter) && errors.As(err, &alert) && alert.Op == "remote error"
}

func (a *Agent) enrol(ctx context.Context) error {
	request, err := a.certificateRequest()
	if err != nil {
		return err
	}
	var e rest.Enrolled
	if err := a.request(ctx, "enrol", 0, http.MethodPost, "/internal/v1/nodes/enroll", rest.EnrolRequest{
		Token: a.config.Token, BootID: a.config.BootID, HostName: a.config.Name, CertificateRequest: request,
	}, &e); err != nil {
		return err
	}
	if e.NodeID == "" || e.NodeInstanceID == "" {
		return errors.New("the answer names no node instance")
	}
	before := a.self
	a.self.NodeID, a.self.InstanceID, a.self.Certificate = e.NodeID, e.NodeInstanceID, e.Certificate
	err = a.adopt()
	if err == nil {
		err = a.folder.put(identityFile, a.self)
	}
	if err != nil { // asked again, the node API gives the same answer
		a.self = before
		a.cert.Store(nil)
		a.emitter = a.currentEmitter()
		return err
	}
	a.emitter.Log(ctx, telemetry.Info, "enrolled as "+a.self.InstanceID)
	return nil
}

// adopt presents the node instance's certificate and speaks in its name from now on.
func (a *Agent) adopt() error {
	if a.self.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(a.self.Certificate), []byte(a.self.Key))
		if err != nil {
			return fmt.Errorf("use certificate: %w", err)
		}
		a.cert.Store(&pair)
	}
	a.client.transport.CloseIdleConnections() // their certificate is the one before
	a.emitter = a.currentEmitter()
	return nil
}

// renewals renews the certificate when two thirds of its life are over. One that is over cannot be renewed:
// the ingress takes it no more, and only a new enrolment helps.
func (a *Agent) renewals(ctx context.Context) {
	for wait := a.config.Retry; ctx.Err() == nil; {
		cert := a.cert.Load()
		if cert == nil {
			return
		}
		life := cert.Leaf.NotAfter.Sub(cert.Leaf.NotBefore)
		if due := cert.Leaf.NotBefore.Add(life * 2 / 3).Sub(a.clock.theirs()); due > 0 {
			wait = a.config.Retry
			pause(ctx, min(due, time.Minute)) // clocks are set while we sleep
			continue
		}
		if err := a.renewCertificate(ctx); err != nil && ctx.Err() == nil {
			a.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("renew certificate, which is good until %s: %v", cert.Leaf.NotAfter.UTC().Format(time.RFC3339), err))
		}
		pause(ctx, wait)
		wait = min(2*wait, 8*a.config.Retry)
	}
}

func (a *Agent) renewCertificate(ctx context.Context) error {
	request, err := a.certificateRequest()
	if err != nil {
		return err
	}
	var c rest.Certificate
	path := "/internal/v1/nodes/" + a.self.NodeID + "/cert/renew"
	if err := a.request(ctx, "renew certificate", 0, http.MethodPost, path, rest.CertificateRequest{CertificateRequest: request}, &c); err != nil {
		return err
	}
	next := a.self
	next.Certificate = c.Certificate
	pair, err := tls.X509KeyPair([]byte(next.Certificate), []byte(next.Key))
	if err != nil {
		return fmt.Errorf("use certificate: %w", err)
	}
	if !pair.Leaf.NotAfter.After(a.cert.Load().Leaf.NotAfter) {
		return errors.New("the new certificate is not good for longer than the one before")
	}
	if err := a.folder.put(identityFile, next); err != nil {
		return err
	}
	a.cert.Store(&pair)
	a.client.transport.CloseIdleConnections()
	a.emitter.Log(ctx, telemetry.Info, "certificate renewed, good until "+pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	return nil
}

func newKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// certificateRequest asks for the node instance's key.
func (a *Agent) certificateRequest() (string, error) {
	block, _ := pem.Decode([]byte(a.self.Key))
	if block == nil {
		return "", errors.New("the node instance's key is no PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	own, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return "", errors.New("the node instance's key is of another kind")
	}
	text, err := authority.NewRequest(a.config.Name, own)
	return string(text), err
}
