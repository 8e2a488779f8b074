package rest

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// NewNode serves the node API. Where the fleet has an authority, callers are whom HeaderClientCert names, and
// only the ingress, known by its own certificate, may say so. Without one, they are whom HeaderCertSubject
// names, over connections from these networks; where none is given, from this machine.
func NewNode(f *fleet.Fleet, emitter *telemetry.Emitter, log *slog.Logger, ingress ...netip.Prefix) http.Handler {
	e := server(emitter, log)
	h := nodeHandlers{f, ingress}
	e.POST("/internal/v1/nodes/enroll", h.enrol)
	e.GET("/internal/v1/nodes/:node/tasks/wait", h.wait)
	e.POST("/internal/v1/nodes/:node/heartbeat", h.heartbeat)
	e.POST("/internal/v1/nodes/:node/cert/renew", h.renewCertificate)
	e.POST("/internal/v1/nodes/:node/tasks/:task/renew", h.renew)
	e.POST("/internal/v1/nodes/:node/tasks/:task/result", h.result)
	return e
}

type nodeHandlers struct {
	fleet   *fleet.Fleet
	proxies proxies // without an authority
}

func (h nodeHandlers) enrol(c echo.Context) error {
	var r EnrolRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := firstOf(identifier("token", r.Token, false), identifier("boot_id", r.BootID, false), identifier("host_name", r.HostName, false)); err != nil {
		return err
	}
	a, cert, err := h.fleet.Admit(c.Request().Context(), fleet.Enrolment{
		Token: r.Token, BootID: r.BootID, HostName: r.HostName, Request: []byte(r.CertificateRequest),
	})
	if err != nil {
		return err
	}
	telemetry.Current(c.Request().Context()).Set(slog.String(semconv.NodeID, a.NodeID), slog.String(semconv.NodeInstanceID, a.InstanceID))
	return c.JSON(http.StatusCreated, Enrolled{a.NodeID, a.InstanceID, certificateOf(cert)})
}

func (h nodeHandlers) wait(c echo.Context) error {
	a, err := h.agent(c)
	if err != nil {
		return err
	}
	longest := 20 * time.Second
	if v := c.QueryParam("timeout"); v != "" {
		if longest, err = time.ParseDuration(v); err != nil || longest < 0 {
			return bad("timeout: %q is no duration", v)
		}
	}
	if c.QueryParam("resume") == "true" {
		if k, ok, err := h.fleet.Held(c.Request().Context(), a); ok || err != nil {
			return taken(c, k, err)
		}
	}
	k, ok, err := h.fleet.Wait(c.Request().Context(), a, longest)
	if err != nil {
		return err
	}
	if !ok {
		return c.NoContent(http.StatusNoContent)
	}
	return taken(c, k, nil)
}

func taken(c echo.Context, k store.Task, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, taskOf(k))
}

func (h nodeHandlers) heartbeat(c echo.Context) error {
	a, err := h.agent(c)
	if err != nil {
		return err
	}
	var r HeartbeatRequest
	if c.Request().ContentLength != 0 {
		if err := firstOf(read(c, &r), identifier("boot_id", r.BootID, true)); err != nil {
			return err
		}
	}
	if err := h.fleet.Heartbeat(c.Request().Context(), a, r.BootID); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (h nodeHandlers) renewCertificate(c echo.Context) error {
	a, err := h.agent(c)
	if err != nil {
		return err
	}
	if !h.fleet.Certified() {
		return invalid{http.StatusNotFound, "no certificates are issued here: the provisioner has no authority"}
	}
	var r CertificateRequest
	if err := read(c, &r); err != nil {
		return err
	}
	cert, err := h.fleet.RenewCertificate(c.Request().Context(), a, []byte(r.CertificateRequest))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, Certificate{certificateOf(cert)})
}

func (h nodeHandlers) renew(c echo.Context) error {
	a, err := h.agent(c)
	if err != nil {
		return err
	}
	var r ClaimRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := claim(c, r.ClaimID, r.Fence); err != nil {
		return err
	}
	until, err := h.fleet.Renew(c.Request().Context(), a, c.Param("task"), r.ClaimID, r.Fence)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, Renewed{until.UTC()})
}

func (h nodeHandlers) result(c echo.Context) error {
	a, err := h.agent(c)
	if err != nil {
		return err
	}
	var r ResultRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := firstOf(claim(c, r.ClaimID, r.Fence), identifier("code", r.Code, true), text("message", r.Message, 8<<10),
		identifier("observed", r.Observed, true)); err != nil {
		return err
	}
	err = h.fleet.Report(c.Request().Context(), a, c.Param("task"), r.ClaimID, r.Fence, fleet.Result{
		OK: r.OK, Code: r.Code, Message: r.Message, Observed: r.Observed,
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// agent is who calls: the certificate must be that of the node in the path.
func (h nodeHandlers) agent(c echo.Context) (a fleet.Agent, err error) {
	r := c.Request()
	actor := ""
	if h.fleet.Certified() {
		a, actor, err = byCertificate(c)
	} else if err = h.proxies.vouches(r); err == nil {
		a, err = bySubject(c)
	}
	if err != nil {
		h.fleet.Refused(r.Context(), fleet.Attempt{Action: "node_api", Actor: actor, NodeID: c.Param("node")}, err)
		return a, err
	}
	ctx := telemetry.With(r.Context(), semconv.NodeID, a.NodeID, semconv.NodeInstanceID, a.InstanceID)
	telemetry.Current(ctx).Set(slog.String(semconv.NodeID, a.NodeID), slog.String(semconv.NodeInstanceID, a.InstanceID))
	c.SetRequest(r.WithContext(ctx))
	return a, nil
}

// byCertificate is who calls where certificates name node instances; actor is whom to name when it is refused.
func byCertificate(c echo.Context) (a fleet.Agent, actor string, err error) {
	id, actor, err := certified(c.Request())
	if err != nil {
		return a, actor, err
	}
	wrong := func(format string, args ...any) (fleet.Agent, string, error) {
		return a, actor, lifecycle.Refuse(lifecycle.WrongCertificate, "node "+c.Param("node"), fmt.Sprintf(format, args...))
	}
	if id.NodeID != c.Param("node") {
		return wrong("the certificate is %s's", id.NodeID)
	}
	if said := c.Request().Header.Get(HeaderInstance); said != "" && said != id.InstanceID {
		return wrong("the certificate is that of node instance %s, the caller says it is another", id.InstanceID)
	}
	return fleet.Agent{NodeID: id.NodeID, InstanceID: id.InstanceID}, actor, nil
}

// bySubject is who calls where the certificate names the node and the agent itself its node instance.
func bySubject(c echo.Context) (a fleet.Agent, err error) {
	h := c.Request().Header
	name, ok := strings.CutPrefix(h.Get(HeaderCertSubject), "CN=")
	if !ok || identifier("subject", name, false) != nil {
		return a, invalid{http.StatusUnauthorized, "invalid node identity"}
	}
	if name != c.Param("node") {
		return a, invalid{http.StatusForbidden, "the certificate is another node's"}
	}
	instance := h.Get(HeaderInstance)
	if err := identifier(HeaderInstance, instance, false); err != nil {
		return a, err
	}
	return fleet.Agent{NodeID: name, InstanceID: instance}, nil
}

func certificateOf(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
}

func claim(c echo.Context, id string, fence int64) error {
	if err := firstOf(identifier("task", c.Param("task"), false), identifier("claim_id", id, false)); err != nil {
		return err
	}
	if fence < 1 {
		return bad("fence: must be at least 1")
	}
	return nil
}

func taskOf(k store.Task) Task {
	return Task{
		TaskID: k.ID, Type: k.Type, AllocationID: k.AllocationID, WorkflowID: k.WorkflowID, CorrelationID: k.CorrelationID, Attempt: k.Attempt,
		ClaimID: k.Claim.ID, Fence: k.Claim.Fence, LeaseUntil: k.Claim.LeaseUntil.UTC(), Traceparent: k.Trace.String(),
	}
}
