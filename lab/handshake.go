package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// handshakeTime bounds one handshake.
const handshakeTime = 5 * time.Second

// handshakes is a listener that hands out connections whose handshake is done, and logs those that
// fail with the subject that the client presented: net/http's own log line doesn't have it.
type handshakes struct {
	net.Listener
	config  *tls.Config
	emitter *telemetry.Emitter
	ready   chan net.Conn
	stop    context.CancelFunc
	ctx     context.Context
	work    sync.WaitGroup
}

func newHandshakes(l net.Listener, c *tls.Config, emitter *telemetry.Emitter) *handshakes {
	h := &handshakes{Listener: l, config: c, emitter: emitter, ready: make(chan net.Conn)}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.work.Add(1)
	go h.accept()
	return h
}

// Accept gives the next connection that may be used.
func (h *handshakes) Accept() (net.Conn, error) {
	select {
	case c := <-h.ready:
		return c, nil
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the listener and waits for handshakes in progress.
func (h *handshakes) Close() error {
	h.stop()
	err := h.Listener.Close()
	h.work.Wait()
	return err
}

func (h *handshakes) accept() {
	defer h.work.Done()
	for {
		raw, err := h.Listener.Accept()
		if err != nil {
			h.stop()
			return
		}
		h.work.Add(1)
		go h.shake(raw)
	}
}

func (h *handshakes) shake(raw net.Conn) {
	defer h.work.Done()
	ctx, cancel := context.WithTimeout(h.ctx, handshakeTime)
	defer cancel()
	c := tls.Server(raw, h.config)
	if err := c.HandshakeContext(ctx); err != nil {
		if h.ctx.Err() == nil {
			h.refused(raw, err)
		}
		_ = raw.Close()
		return
	}
	select {
	case h.ready <- c:
	case <-h.ctx.Done():
		_ = c.Close()
	}
}

// refused logs a failed handshake, and reads what the client still sends: closing with unread bytes
// would reset the connection, and the client might never see the alert that tells it why.
func (h *handshakes) refused(raw net.Conn, err error) {
	attrs := []slog.Attr{slog.String("client.address", raw.RemoteAddr().String()), slog.String(semconv.TLSError, err.Error())}
	var verification *tls.CertificateVerificationError
	text := fmt.Sprintf("tls: handshake with %s: %v", raw.RemoteAddr(), err)
	if errors.As(err, &verification) && len(verification.UnverifiedCertificates) > 0 {
		leaf := verification.UnverifiedCertificates[0]
		text = fmt.Sprintf("tls: client certificate of %s refused: %v", leaf.Subject, verification.Err)
		attrs = append(attrs, slog.String(semconv.TLSPeerSubject, leaf.Subject.String()), slog.String("tls.client.issuer", leaf.Issuer.String()),
			slog.Time("tls.client.not_after", leaf.NotAfter))
	}
	h.emitter.Log(context.Background(), telemetry.Error, text, attrs...)
	_ = raw.SetDeadline(time.Now().Add(250 * time.Millisecond))
	_, _ = io.Copy(io.Discard, io.LimitReader(raw, 64<<10))
}
