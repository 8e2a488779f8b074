// Package collector is Faultline's distribution of the OpenTelemetry Collector: the list of its
// components and the configurations that come with it.
package collector
