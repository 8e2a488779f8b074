// Package agent is a node agent: it enrols its node, keeps its certificate fresh, asks for tasks by long
// poll, does them step by step, and reports each result under the claim's fence.
//
//	folder ─▶ enrol ─▶ ┌─ claim ─▶ steps ─▶ result ─┐
//	                   └────────────────────────────┘   beside it: heartbeat, claim renewal, certificate renewal
//
// What it may not forget is in its folder before it acts on it: its key before the token is spent, its claim
// before the first step, each finished step, the result before it is sent. Killed anywhere, it goes on there
// when it is started again; a step that it was killed in is done again, so steps must bear that. The folder is
// the node instance: wiped with the node, its name is never heard of again.
package agent
