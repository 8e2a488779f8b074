package authority

import (
	"fmt"
	"net/url"
	"strings"
)

// trustDomain is the host of every URI that the authority puts into a certificate.
const trustDomain = "faultline"

// Identity is whom a certificate names: a node instance, or a service.
type Identity struct {
	NodeID, InstanceID string // of a node agent
	Service            string // of a service: "ingress", "node-api"
}

// Services that hold certificates of the authority.
const (
	Ingress = "ingress"
	NodeAPI = "node-api"
)

// CommonName is the name that people and access logs see: the node, or the service.
func (i Identity) CommonName() string {
	if i.Service != "" {
		return i.Service
	}
	return i.NodeID
}

// URI is the identity in the form in which a certificate carries it.
func (i Identity) URI() *url.URL {
	path := "/node/" + i.NodeID + "/instance/" + i.InstanceID
	if i.Service != "" {
		path = "/service/" + i.Service
	}
	return &url.URL{Scheme: "spiffe", Host: trustDomain, Path: path}
}

// ParseIdentity reads a URI of the form that URI writes.
func ParseIdentity(text string) (Identity, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "spiffe" || u.Host != trustDomain || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return Identity{}, fmt.Errorf("%q is no identity of spiffe://%s", text, trustDomain)
	}
	switch part := strings.Split(strings.TrimPrefix(u.Path, "/"), "/"); {
	case len(part) == 4 && part[0] == "node" && part[1] != "" && part[2] == "instance" && part[3] != "":
		return Identity{NodeID: part[1], InstanceID: part[3]}, nil
	case len(part) == 2 && part[0] == "service" && part[1] != "":
		return Identity{Service: part[1]}, nil
	}
	return Identity{}, fmt.Errorf("%q names neither a node instance nor a service", text)
}
