package rules

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// deduplicated finds messages that a queue took for copies of earlier ones.
func deduplicated() []correlator.Rule {
	return []correlator.Rule{{
		ID: "outbox.deduplicated", Layer: semconv.LayerOutbox, Mechanism: "deduplicated",
		Looks:      "a record that was published and that nobody was given, and a queue that took it for a copy of another: by the same number that it gave both, or by its count",
		NextCheck:  "by what the relay makes the id by which the queue knows copies: two different messages have the same",
		SafeAction: "publish it again under an id of its own; the workers need nothing",
		Find:       takenForCopy,
	}}
}

var (
	// givenNumber finds the number that a queue gave a message (SQS, JetStream, Pub/Sub, Kafka's offsets are each a partition's own and do not count).
	givenNumber = regexp.MustCompile(`\b(?:sequencenumber|messageid|message_id|stream_seq)[=: "]+([\w-]{6,})`)
	// countedCopies finds how many copies a queue left out (SQS' metric), saidCopy that it says so of this one (JetStream, Service Bus).
	countedCopies = regexp.MustCompile(`dedup\w*sent\w*(?:\([^)]*\))?[=: ]+(\d+)|duplicates? (?:dropped|discarded|detected)[=: ]+(\d+)`)
	saidCopy      = regexp.MustCompile(`"?duplicate"?[:=] ?true`)
	// copiesBy finds that the relay gave an id for that.
	copiesBy = regexp.MustCompile(`\bdedup\w*[=: ]|\bnats-msg-id\b`)
)

// takenForCopy needs a published record of which nothing came, and of its sending either an answer that says so, or the number that another record
// of the allocation had been given, or an id for copies beside a queue's count of them.
func takenForCopy(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	published := untaken(c, t)
	if published == nil {
		return nil
	}
	id := published.Own(identity.Outbox)
	var sent, twin, counted *correlator.Event
	earlier := map[string]*correlator.Event{}
	for _, e := range c.Events {
		if e.IsEvent() || e.Layer != semconv.LayerOutbox {
			continue
		}
		m := givenNumber.FindAllStringSubmatch(e.Text, -1)
		switch e.Own(identity.Outbox) {
		case "":
		case id:
			sent = e
			for _, n := range m {
				twin = cmp.Or(twin, earlier[n[1]])
			}
		default:
			for _, n := range m {
				earlier[n[1]] = e
			}
		}
	}
	if sent == nil {
		return nil
	}
	c.Each(published.At, t.At+recently, func(e *correlator.Event) {
		if m := countedCopies.FindStringSubmatch(e.Text); m != nil && e.Layer == semconv.LayerOutbox && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			if n, err := strconv.Atoi(m[1] + m[2]); err == nil && n > 0 {
				counted = e
			}
		}
	})
	said := saidCopy.MatchString(sent.Text)
	if twin == nil && !said && (counted == nil || !copiesBy.MatchString(sent.Text)) {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: twin != nil || said, Onset: sent.At, Records: []*correlator.Event{sent, published}}
	if twin != nil {
		ev.Records = append(ev.Records, twin)
	} else if !said {
		ev.Records = append(ev.Records, counted)
	}
	ev.Records = append(ev.Records, t.Cites...)
	ev.Summary = "the queue took the record for a copy of another, and gave it to nobody" + quote(sent)
	return []correlator.Evidence{ev}
}
