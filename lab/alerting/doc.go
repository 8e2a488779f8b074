// Package alerting makes faults in a platform that runs and measures how long it takes until Alertmanager has an alert that names the
// owner, and until it is resolved after the fault was healed. Beside healthy load nothing may fire.
package alerting
