package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/table"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// recoverActionCommand does one action of the table.
func recoverActionCommand(a recovery.Action) *cobra.Command {
	var p provisionerClient
	var body rest.RecoveryRequest
	verdict, key := "", ""
	noun := strings.ToUpper(a.Of.One())
	cmd := &cobra.Command{
		Use: a.Name + " " + noun, GroupID: string(a.Of), Short: firstSentence(a.Does), Long: explain(a),
		Example: recoverExample(a),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fmt.Errorf("%s needs one %s (faultline recover stuck lists those that are stuck)", a.Name, noun)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(body.Reason) == "" {
				return fmt.Errorf("--reason: say why; it stands in the audit log and on the timeline")
			}
			if verdict != "" {
				if err := json.Unmarshal([]byte(verdict), &body.Verdict); err != nil {
					return fmt.Errorf("--verdict: %w; an object is wanted, such as {\"id\":\"inc-7\",\"layer\":\"cert\",\"mechanism\":\"expired\",\"owner\":\"pki\"}", err)
				}
			}
			if err := p.connect(); err != nil {
				return err
			}
			if body.Actor == "" && p.token == "" { // nobody asks who calls: our word is all there is
				body.Actor = os.Getenv("USER")
			}
			if key == "" {
				key = telemetry.NewID("cli")
			}
			answer := recovery.Answer{}
			path := "/v1/recovery/" + string(a.Of) + "/" + url.PathEscape(args[0]) + "/" + a.Name
			header, err := p.post(cmd.Context(), path, key, body, &answer)
			if err != nil {
				return err
			}
			if p.json {
				return printJSON(cmd.OutOrStdout(), answer)
			}
			return showRecovery(table.Safe(cmd.OutOrStdout()), answer, header, key)
		},
	}
	p.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&body.Reason, "reason", "", "why (required)")
	f.BoolVar(&body.DryRun, "dry-run", false, "make the same checks, say what would change, and change nothing")
	f.StringVar(&key, "key", "", "idempotency key: the same request under it is done once (default a new one, which is printed)")
	f.StringVar(&body.Actor, "actor", "", "who acts; with access control that is the token's owner (default $USER)")
	f.StringVar(&verdict, "verdict", "", "the verdict that justifies it, as JSON; without it the provisioner asks its correlator, if it has one")
	if wantsEvidence(a) {
		f.BoolVar(&body.RuntimeVerifiedAbsent, "runtime-verified-absent", false, "somebody has seen that nothing of it runs any more")
		f.StringVar(&body.Evidence, "evidence", "", "where that is written: a ticket, a console log, a photograph")
	}
	return cmd
}

// firstSentence is what stands in a list.
func firstSentence(text string) string {
	for _, end := range []string{". ", ": "} {
		if head, _, ok := strings.Cut(text, end); ok {
			text = head
		}
	}
	return strings.TrimSuffix(text, ".")
}

func recoverExample(a recovery.Action) string {
	id := map[recovery.Kind]string{recovery.Allocations: "a-1", recovery.Nodes: "n-1", recovery.Messages: "ob-1"}[a.Of]
	line := "  faultline recover " + a.Name + " " + id + ` --reason "INC-7: mended"`
	if wantsEvidence(a) {
		line += " --runtime-verified-absent --evidence console:INC-7"
	}
	return line + " --dry-run\n" + line
}

// showRecovery tells what was done.
func showRecovery(w io.Writer, a recovery.Answer, header http.Header, key string) error {
	how := "done"
	switch {
	case a.DryRun:
		how = "would be done; nothing was changed"
	case header.Get(rest.HeaderReplayed) != "":
		how = "was done before, under the same key"
	}
	_, _ = fmt.Fprintf(w, "%s of %s %s: %s\n", a.Action, a.Of, a.ID, how)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range a.Changes {
		from := c.From + " → "
		if c.From == "" {
			from = "new: "
		}
		_, _ = fmt.Fprintf(columns, "  %s\t%s\t%s%s\n", c.Subject, c.Field, from, c.To)
	}
	if len(a.Changes) == 0 {
		_, _ = fmt.Fprintln(columns, "  no state changes")
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	if e := a.Enrolment; e != nil && !a.DryRun {
		token := e.Token
		if token == "" {
			token = "(was shown once; another --key issues another one)"
		}
		_, _ = fmt.Fprintf(w, "  enrolment token: %s  valid until %s\n", token, e.ExpiresAt.Format("2006-01-02T15:04:05Z"))
	}
	_, _ = fmt.Fprintf(w, "  verdict: %s\n", verdictText(a.Verdict))
	if a.DryRun {
		return nil
	}
	_, err := fmt.Fprintf(w, "  audit: %s by %s, key %s\n", a.AuditID, a.Actor, key)
	return err
}

// verdictText is a verdict on record in one line.
func verdictText(v recovery.Verdict) string {
	if v.Absent != "" {
		return "none: " + v.Absent
	}
	head := strings.Join(nonEmpty(v.ID, strings.Trim(v.Layer+"."+v.Mechanism, "."), v.Owner), " · ")
	return strings.TrimSuffix(strings.Join(nonEmpty(head, v.Outcome, v.Summary), ": "), ": ")
}

// explainRefusal puts a problem into the words of an error.
func explainRefusal(p rest.Problem) error {
	text := p.Title + ": " + p.Detail
	if p.Guard != "" {
		text = "guard " + p.Guard + ": " + p.Detail
	}
	if p.SatisfiedBy != "" {
		text += "\n  satisfied by: " + p.SatisfiedBy
	}
	if len(p.Legal) > 0 {
		text += "\n  legal now: " + strings.Join(p.Legal, ", ")
	}
	if p.Reason == "" && p.Status != http.StatusForbidden && p.Status != http.StatusUnauthorized {
		return errors.New(text)
	}
	return fmt.Errorf("%w: %s", errRefused, text)
}
