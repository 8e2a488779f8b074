// Package clickhouse reads stories from the store: every query is a file in sql/, with typed parameters.
package clickhouse
