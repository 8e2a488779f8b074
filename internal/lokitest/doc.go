// Package lokitest runs a Loki server of its own for tests and benchmarks: on loopback, in a temporary folder, for as long as the
// process that asked for it lives. Loki has no package to install: it is built once from its module (`make loki`), and kept in the
// user's cache.
package lokitest
