// Package product runs Faultline as a user does, for experiments that need one: `faultline up --no-lab` from the programs
// that lie beside this one, on free ports and in a folder of its own. What an experiment wants to know it asks the
// correlator, over the same API as everybody else.
package product
