// Package notify tells others of incidents, one alert each, so that nobody has to look: Alertmanager, which groups, routes and silences
// them, and a webhook.
//
//	assessments ──▶ incidents ──▶ Alertmanager   all that are open, again and again; what ends is resolved
//	                         └──▶ webhook        each change, until it is taken
//
// What was told is held in memory. Alertmanager ends by itself what nobody repeats; after a restart the webhook is told of every open
// incident again, and its receiver goes by the incident's identifier. Every replica of a correlator tells: Alertmanager counts equal alerts
// once, a webhook belongs into the configuration of one of them.
package notify
