// Package correlator is the domain: it joins the records of an allocation over all layers into one
// timeline and judges which layer owns the trouble.
//
// Records go in, an Allocation with its Verdict comes out, by the same code for a service and for a file:
//
//	records ▶ NewDataset (merge duplicates, learn links, resolve) ▶ Case, one an allocation
//	Case    ▶ WithTimeline                   what happened, in causal order
//	Case    ▶ Troubles ▶ rules ▶ Judge       what it cost, what explains it, whose it is
//
// Around it: correlator/rules knows how platforms fail, correlator/query what may be asked, correlator/incident looks
// across allocations, correlator/live judges as records arrive, correlator/clickhouse and correlator/memory keep records.
//
// Nothing here reads a clock, a file or a database: "now" is a property of the input.
//
// Who is new here reads four files: this one; a scenario, testdata/scenarios/cert-expired-client.txtar, which is telemetry and the
// verdict that an engineer would give; a rule that explains it, rules/signature.go with its table rules/signatures.yaml; and
// judge.go, which asks the rules about each trouble and chooses.
package correlator
