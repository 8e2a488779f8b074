// Package kubeobject reads lifecycle events out of watched Kubernetes objects, so that a platform whose
// controllers say nothing of their own is heard all the same. What an object's fields mean is a mapping
// in a profile; the code knows only paths into an object and the events of the telemetry contract.
package kubeobject
