// Package addon lets a program that lies beside bin/faultline add processes to `faultline up`, without the one knowing
// the other's code. `faultline up` runs the add-on once and writes a Product on its standard input: where the product
// keeps its data and where it listens. The add-on writes a Plan on its standard output: which processes to run, in
// which order, and which addresses they need. From then on `faultline up` looks after them as after its own.
//
// The simulated platform, faultline-lab, is such an add-on.
package addon
