// Package matrix freezes and kills every process of a platform that runs, and stops the telemetry of every layer, one after the
// other, and asks what was said meanwhile: right is the owner of what stood still, or nobody; wrong is anybody else.
package matrix
