module github.com/faultline-io/faultline/tools/localize

go 1.26.0

require github.com/leonelquinteros/gotext v1.7.2
