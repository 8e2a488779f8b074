package lab

import (
	"context"
	"fmt"
	"net"
	"time"
)

// sockets is where the lab's own parts listen, and where one of them should and doesn't.
type sockets struct {
	ingress, api, auth net.Listener
	hub, aap, eda      net.Listener   // nil where the lab runs no providers
	gateways           []net.Listener // the ingress, in networks of nodes
	dead               string
}

// open listens on every address; port 0 is a free one. Something that listens where nothing should is
// an error: the story that is told there would not be true.
func (c Config) open(ctx context.Context) (s *sockets, err error) {
	s = &sockets{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	var none net.Listener
	type place struct {
		key, address string
		to           *net.Listener
	}
	places := []place{{"ingress", c.Ingress, &s.ingress}, {"api", c.API, &s.api}, {"auth", c.Auth, &s.auth}, {"dead_api", c.DeadAPI, &none}}
	if c.Providers {
		places = append(places, place{"hub", c.Hub, &s.hub}, place{"aap", c.AAP, &s.aap}, place{"eda", c.EDA, &s.eda})
	}
	for _, at := range places {
		if at.key == "dead_api" && answers(ctx, at.address) {
			return s, fmt.Errorf("dead_api: something listens on %s", at.address)
		}
		if *at.to, err = new(net.ListenConfig).Listen(ctx, "tcp", at.address); err != nil {
			return s, fmt.Errorf("%s: %w", at.key, err)
		}
	}
	s.dead = none.Addr().String()
	return s, none.Close()
}

// answers tells whether a connection can be made.
func answers(ctx context.Context, address string) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// close may be called again, and after a server has closed its own.
func (s *sockets) close() {
	for _, l := range append([]net.Listener{s.ingress, s.api, s.auth, s.hub, s.aap, s.eda}, s.gateways...) {
		if l != nil {
			_ = l.Close()
		}
	}
}
