// Package lokireceiver takes what agents push to Loki: Promtail, Grafana Alloy, Vector, Fluent Bit and whoever else speaks its push
// API send node logs here unchanged. Labels and structured metadata become attributes under the names of the contract.
package lokireceiver
