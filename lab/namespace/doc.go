// Package namespace gives a simulated node a network of its own, which can be cut: a network namespace of the
// kernel's, joined to this machine's network by a pair of virtual interfaces. It takes Linux and the rights to
// make such things (CAP_SYS_ADMIN and CAP_NET_ADMIN, as root has them).
//
//	this machine                            the namespace
//	faultline-3f2a1, 10.231.77.1/30  ────  eth0, 10.231.77.2/30
//
// The namespace has no name and lives in a descriptor of this process. With that, however the process ends, the
// kernel takes the namespace and both interfaces away: nothing can be left behind. Nothing else of this
// machine's network is touched: no forwarding, no routes but the pair's own, no settings.
package namespace

// Prefix is that of every interface that this package makes; five hexadecimal digits follow, as many as fit.
const Prefix = "faultline-"
