package record

import "testing"

func TestLineLevel(t *testing.T) {
	for line, want := range map[string]int{
		`2026-03-02 20:20:03.004 UTC [511] api@prov ERROR:  nextval: reached maximum value of sequence "s"`: 17,
		`2026-03-02 20:20:03.004 UTC [511] api@prov LOG:  checkpoint complete`:                              0,
		`2026-03-02 20:20:03.004 UTC [511] WARNING:  out of disk`:                                           13,
		`2026/03/02 15:01:00 [error] 31#31: *7781 upstream timed out`:                                       17,
		`2026/03/02 15:01:00 [info] 31#31: *7781 client sent invalid header line`:                           9,
		`E0302 09:56:40.644785       1 reflector.go:302] watch ended`:                                       17,
		`W0302 09:56:40.644785       1 reflector.go:302] watch ended`:                                       13,
		`time="2026-03-11T10:01:10Z" level=error msg="no"`:                                                  17,
		`{"level":"warn","ts":1,"msg":"slow"}`:                                                              13,
		`{"msg":"x","level": "FATAL"}`:                                                                      21,
		`the water level=17 is fine`:                                                                        0,
		`levels of service`:                                                                                 0,
		`note: ERROR rates are low`:                                                                         0,
		`dhcp-agent: log level WARNING, no lines since`:                                                     0,
		`E03`: 0,
		``:    0,
	} {
		if got := LineLevel(line); got != want {
			t.Errorf("%q: %d, not %d", line, got, want)
		}
	}
}
