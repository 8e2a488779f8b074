// Package profile teaches Faultline a platform: which layers it has and who owns them, which services
// belong to which layer, where identifiers stand in its records and lines, what its Kubernetes objects
// mean, what its views show and how long its steps may take. A profile is one YAML file, laid over those
// that it extends; the built-in ones are embedded.
package profile
