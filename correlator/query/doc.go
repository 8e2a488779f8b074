// Package query says what may be asked of allocations and their records, and answers it out of a store: one allocation's
// verdict, the reasons for it and its history; assessments of all; records one by one, page by page.
//
// Store is what a database, or records in memory, has to give; Service is what the REST API and the command line ask.
package query
