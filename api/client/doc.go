// Package client asks a correlator over HTTP. It is generated from api/openapi.yaml, the contract of the API: the command line
// uses it, and so can any other program.
//
// Every method gives the answer as it came, also a refusal (application/problem+json); the methods of ClientWithResponses read it.
package client

//go:generate go tool -modfile=../../tools/oapicodegen/go.mod oapi-codegen -config models.yaml -o models.gen.go ../openapi.yaml
//go:generate go tool -modfile=../../tools/oapicodegen/go.mod oapi-codegen -config requests.yaml -o client.gen.go ../openapi.yaml
